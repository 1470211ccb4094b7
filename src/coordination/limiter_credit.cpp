// The part of Limiter that keeps the credit of its days and its metrics.
#include "coordination/limiter.h"
#include "runtime/log.h"
#include "runtime/retry.h"

namespace sluice::coordination {
namespace {

const metrics::Gauge per_second{"rate_limiter_rps", "Permits obtained by this process in the last second.", {"limit"}};
const metrics::Gauge remaining_permits{
    "limit_remaining", "Permits left in a window now, or in a day until its end.", {"limit"}};

constexpr Duration show_every = 1s;

}  // namespace

void Limiter::take_chunk_if_low(size_t priority, int64_t credit) {
  Line& line = lines_[priority];
  if (!line.has_days || credit > line.chunk / 2) return;
  if (line.taking_chunk || clock_.now() < line.next_chunk) return;
  line.taking_chunk = true;
  scope_->spawn("chunk of " + plan().name, take_chunk(priority));
}

Task<> Limiter::take_chunk(size_t priority) {
  Line& line = lines_[priority];
  try {
    co_await deposit_chunk(priority);
    line.chunk_error = nullptr;
  } catch (const EngineUnavailable& error) {
    log::warning("no chunk of the day's budget is left", {{"limit", plan().name}, {"error", error.what()}});
    line.chunk_error = std::current_exception();
    line.next_chunk = clock_.now() + error.retry_after();
  }
  line.taking_chunk = false;
  changed_.notify_all();
}

// A taken chunk that could not be deposited, or perhaps was, is spent: it is never deposited again.
Task<> Limiter::deposit_chunk(size_t priority) {
  Line& line = lines_[priority];
  const Instant sent = clock_.now();
  const int64_t least = std::max<int64_t>(1, line.chunk / 4);
  const Result<DayChunk, Duration> chunk = co_await days_->take(priority, least, line.chunk);
  if (!chunk) {
    line.next_chunk = clock_.now() + chunk.error();
    co_return;
  }
  const Duration lasts = chunk->lasts - std::chrono::ceil<Duration>(clock_.now() - sent);
  if (lasts <= 0us) co_return;
  co_await limit_.deposit(priority, chunk->permits, lasts);
}

Task<> Limiter::wait_for_credit(size_t priority) {
  Line& line = lines_[priority];
  while (line.taking_chunk && next_line() == priority) co_await changed_.wait();
  if (line.chunk_error) {
    fail(priority, line.chunk_error);
  } else if (line.next_chunk > clock_.now()) {
    const Instant next = line.next_chunk;
    co_await wait_until(priority, next);
  }
}

Task<> Limiter::show_loop() {
  co_await run_forever("limit gauges", clock_, random_, [this] { return show_round(); });
}

Task<> Limiter::show_round() {
  co_await clock_.sleep_for(show_every);
  const Instant now = clock_.now();
  const double seconds = std::chrono::duration<double>(now - std::exchange(shown_at_, now)).count();
  per_second.with({plan().name}).set(static_cast<double>(std::exchange(given_, 0)) / seconds);
  const std::vector<int64_t> windows = co_await limit_.remaining();
  for (size_t i = 0; i < windows.size(); ++i) {
    remaining_permits.with({plan().name + "/" + plan().window[i].name}).set(static_cast<double>(windows[i]));
  }
  if (days_ == nullptr) co_return;
  const std::vector<int64_t> days = co_await days_->left();
  for (size_t i = 0; i < days.size(); ++i) {
    remaining_permits.with({plan().name + "/" + plan().day[i].name}).set(static_cast<double>(days[i]));
  }
}

}  // namespace sluice::coordination
