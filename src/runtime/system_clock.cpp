#include "runtime/system_clock.h"

#include <boost/asio/steady_timer.hpp>

namespace sluice {

Time SystemClock::wall() const {
  return std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

Instant SystemClock::now() const {
  return Instant{std::chrono::steady_clock::now().time_since_epoch()};
}

Task<> SystemClock::sleep_until(Instant when) {
  const std::chrono::steady_clock::time_point at{when.time_since_epoch()};
  asio::steady_timer timer(co_await asio::this_coro::executor, at);
  co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace sluice
