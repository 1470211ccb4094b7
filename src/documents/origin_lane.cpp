#include "documents/origin_lane.h"

#include "runtime/errors.h"
#include "runtime/log.h"

namespace sluice::documents {
namespace {

// Time for a download beyond the origin's own limit: storing, giving the slot back.
constexpr Duration margin = 5s;

}  // namespace

Task<> give_back_or_let_expire(std::string what, std::string origin, Task<> giving_back) {
  try {
    co_await std::move(giving_back);
  } catch (const EngineUnavailable& error) {
    log::warning("left to expire", {{"what", what}, {"origin", origin}, {"error", error.what()}});
  }
}

OriginLane::OriginLane(Lane lane, const OriginConfig& config, const OriginParts& parts, const Executor& executor)
    : lane_(lane),
      config_(config),
      parts_(parts),
      breaker_key_("origin/" + config.name + (lane == Lane::strangers ? "/strangers" : "")),
      gate_({config.name, lane, config.max_concurrent, config.slot_wait, config.timeout + margin}, parts.slots,
            parts.limit, parts.clock, parts.random, parts.owner, executor) {}

std::optional<Reason> OriginLane::why_closed() const {
  if (breaker_open_until_ > parts_.clock.now()) return Reason::breaker_open;
  if (gate_.is_full()) return Reason::rate_limit_exceeded;
  return std::nullopt;
}

// An origin may answer unknown paths with anything but silence and 5xx; a known document is expected to be one.
bool OriginLane::is_healthy(const Answer& answer) const {
  if (answer) return true;
  switch (answer.error()) {
    case FetchError::timeout:
    case FetchError::failed: return false;
    case FetchError::missing:
    case FetchError::refused: return true;
    case FetchError::throttled:
    case FetchError::too_large:
    case FetchError::invalid: break;
  }
  return lane_ == Lane::strangers;
}

Task<Result<OriginLane::Answer, Reason>> OriginLane::visit(DocumentPath path, std::string traceparent) {
  const Result<coordination::BreakerPermit, Duration> permit =
      co_await parts_.breaker.ask(breaker_key_, config_.timeout + config_.slot_wait + margin);
  if (!permit) {
    breaker_open_until_ = parts_.clock.now() + std::min(permit.error(), Duration{1s});
    co_return Reason::breaker_open;
  }
  std::optional<coordination::Slot> slot;
  std::optional<Answer> answer;
  Instant began{};
  std::exception_ptr error;
  try {
    slot = co_await gate_.enter();
    began = parts_.clock.now();
    if (slot) answer.emplace(co_await parts_.origin.fetch(std::move(path), std::move(traceparent)));
  } catch (...) {
    error = std::current_exception();
  }
  // The slot is given back even while the server stops.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  if (answer) {
    const auto took = std::chrono::ceil<Duration>(parts_.clock.now() - began);
    co_await leave(*slot, *permit, is_healthy(*answer), took);
    co_return std::move(*answer);
  }
  if (slot) {
    Task<> giving_up = gate_.give_up(*slot);
    co_await give_back_or_let_expire("a slot", config_.name, std::move(giving_up));
  }
  Task<> forgetting = parts_.breaker.forget(breaker_key_, *permit);
  co_await give_back_or_let_expire("a permit", config_.name, std::move(forgetting));
  if (error) std::rethrow_exception(error);
  co_return Reason::rate_limit_exceeded;
}

Task<> OriginLane::leave(coordination::Slot slot, coordination::BreakerPermit permit, bool healthy, Duration took) {
  Task<> leaving = gate_.leave(std::move(slot), healthy, took);
  co_await give_back_or_let_expire("a slot", config_.name, std::move(leaving));
  Task<> recording = parts_.breaker.record(breaker_key_, permit, healthy);
  co_await give_back_or_let_expire("a permit", config_.name, std::move(recording));
}

}  // namespace sluice::documents
