#include "runtime/virtual_clock.h"

#include <boost/asio/redirect_error.hpp>

namespace sluice {

Task<> VirtualClock::sleep_until(Instant when) {
  if (when <= now_) co_return;
  // The timer never fires by itself: cancelling it is how advance() wakes the sleeper.
  asio::steady_timer timer(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
  const auto sleeper = sleepers_.emplace(when, &timer);
  boost::system::error_code ignored;
  bool woken = false;
  try {
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    woken = now_ >= when;
  } catch (...) {
    if (now_ < when) sleepers_.erase(sleeper);
    throw;
  }
  if (!woken) {  // cancelled with its task
    sleepers_.erase(sleeper);
    throw boost::system::system_error(asio::error::operation_aborted);
  }
}

void VirtualClock::advance(Duration duration) {
  const Instant end = now_ + duration;
  while (!sleepers_.empty() && sleepers_.begin()->first <= end) {
    const auto next = sleepers_.begin();
    now_ = std::max(now_, next->first);
    asio::steady_timer* timer = next->second;
    sleepers_.erase(next);
    timer->cancel();
  }
  now_ = end;
}

void VirtualClock::run(asio::io_context& context, Instant until) {
  while (true) {
    context.restart();
    context.poll();
    if (sleepers_.empty() || sleepers_.begin()->first > until) break;
    const auto step = std::chrono::ceil<Duration>(sleepers_.begin()->first - now_);
    advance(step);
  }
  if (until != Instant::max()) now_ = std::max(now_, until);
}

}  // namespace sluice
