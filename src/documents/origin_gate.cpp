#include "documents/origin_gate.h"

#include "runtime/metrics.h"

namespace sluice::documents {
namespace {

const metrics::Gauge in_flight{"document_origin_in_flight", "Open requests of this instance to an origin.", {"origin"}};

// Interval at which the first in line asks the database for a slot that another instance may have given back.
constexpr Duration first_poll = 20ms;
constexpr Duration longest_poll = 200ms;
// So long at most passes between two such questions. Where there is but one slot, strangers leave it alone for that
// time after each visit: with a crowd of them in line known documents would never find it free.
constexpr Duration left_to_others = longest_poll * 3 / 2;

// The part of a slot's time to live that a wait may use up.
constexpr Duration short_wait = 100ms;

}  // namespace

OriginGate::OriginGate(GateConfig config, coordination::Slots& slots, coordination::SharedLimit& limit, Clock& clock,
                       Random& random, std::string owner, const Executor& executor)
    : config_(std::move(config)),
      slots_(slots),
      rate_(limit),
      clock_(clock),
      random_(random),
      owner_(std::move(owner)),
      executor_(executor),
      given_back_(executor),
      limit_(most()) {}

bool OriginGate::is_full() const {
  const auto ahead = static_cast<double>(line_.size());
  const double by_time = ahead * static_cast<double>(mean_time_.count()) / limit_;
  const double by_rate = ahead * 1e6 / rate_.plan().per_second(static_cast<size_t>(config_.lane));
  return std::max(by_time, by_rate) > static_cast<double>(config_.slot_wait.count());
}

Task<std::optional<coordination::Slot>> OriginGate::enter() {
  if (is_full()) co_return std::nullopt;
  const Instant until = clock_.now() + config_.slot_wait;
  const auto me = std::make_shared<Waiting>(executor_);
  line_.push_back(me);
  std::optional<coordination::Slot> slot;
  std::exception_ptr error;
  try {
    while (line_.front() != me && clock_.now() < until) co_await me->moved.wait_until(clock_, until);
    if (line_.front() == me) slot = co_await wait_in_front(until);
  } catch (...) {
    error = std::current_exception();
  }
  std::erase(line_, me);
  if (!line_.empty()) line_.front()->moved.notify_all();
  if (error) std::rethrow_exception(error);
  if (slot) in_flight.with({config_.origin}).add(1);
  co_return slot;
}

Task<std::optional<coordination::Slot>> OriginGate::take_slot() {
  const std::string key = "origin/" + config_.origin;
  const int64_t usable = limit();
  const int64_t own = std::min(usable, own_slots());
  std::optional<coordination::Slot> slot;
  if (own > 0) slot = co_await slots_.take(key, own, owner_, config_.slot_ttl);
  if (!slot && usable > own_slots()) slot = co_await slots_.take(key + "/shared", 1, owner_, config_.slot_ttl);
  co_return slot;
}

Task<std::optional<coordination::Slot>> OriginGate::wait_in_front(Instant until) {
  const Instant begin = std::min(until, last_left_ + left_to_others);
  const bool yields = config_.lane == Lane::strangers && config_.max_concurrent == 1;
  if (yields && clock_.now() < begin) co_await clock_.sleep_until(begin);
  Duration poll = first_poll;
  while (true) {
    std::optional<coordination::Slot> slot = co_await take_slot();
    if (slot) {
      bool in_rate = false;
      std::exception_ptr error;
      try {
        in_rate = co_await keep_to_rate(*slot, until);
      } catch (...) {
        error = std::current_exception();
      }
      if (in_rate) co_return slot;
      if (error) co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
      co_await slots_.give_back(*slot);
      if (error) std::rethrow_exception(error);
      co_return std::nullopt;
    }
    if (clock_.now() >= until) co_return std::nullopt;
    const Duration jittered =
        poll / 2 + Duration{static_cast<int64_t>(random_.below(static_cast<uint64_t>(poll.count())))};
    const Instant next = std::min(until, clock_.now() + jittered);
    co_await given_back_.wait_until(clock_, next);
    poll = std::min(longest_poll, poll * 2);
  }
}

// False where the rate's turn does not come in time, or the slot was lost meanwhile.
Task<bool> OriginGate::keep_to_rate(coordination::Slot slot, Instant until) {
  Instant leased = clock_.now();
  while (true) {
    // A long wait must not come off the time that the request itself may take. Before the draw, because a permit does
    // not last.
    if (clock_.now() - leased > short_wait) {
      leased = clock_.now();
      const bool held = co_await slots_.renew(slot, config_.slot_ttl);
      if (!held) co_return false;
    }
    const coordination::Drawn drawn = co_await rate_.draw(static_cast<size_t>(config_.lane), 1, 1);
    const bool given = drawn.given > 0;
    if (given && clock_.now() < drawn.sent + rate_.plan().permit_life) co_return true;
    // A permit that came too late is useless; the next is requested at once.
    const Instant next = given ? clock_.now() : clock_.now() + drawn.wait;
    if (next >= until) co_return false;
    co_await clock_.sleep_until(next);
  }
}

Task<> OriginGate::leave(coordination::Slot slot, bool success, Duration took) {
  limit_ = success ? std::min(most(), limit_ + 1.0 / most()) : std::max(1.0, limit_ - 1);
  mean_time_ = mean_time_ == Duration{0} ? took : (mean_time_ * 7 + took) / 8;
  co_await give_up(std::move(slot));
}

Task<> OriginGate::give_up(coordination::Slot slot) {
  in_flight.with({config_.origin}).add(-1);
  co_await slots_.give_back(std::move(slot));
  last_left_ = clock_.now();
  given_back_.notify_all();
}

}  // namespace sluice::documents
