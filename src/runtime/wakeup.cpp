#include "runtime/wakeup.h"

#include <boost/asio/redirect_error.hpp>

#include "runtime/deadline.h"

namespace sluice {

Task<> Wakeup::wait() {
  boost::system::error_code woken;
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  // A cancelled task looks the same as a woken one here.
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) {
    throw boost::system::system_error(asio::error::operation_aborted);
  }
}

Task<> Wakeup::wait_until(Clock& clock, Instant when) {
  const Deadline deadline{when};
  co_await detail::race(clock, deadline, wait());
}

}  // namespace sluice
