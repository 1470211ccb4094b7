#include "runtime/deadline.h"

namespace sluice::detail {

Task<bool> race(Clock& clock, Deadline deadline, Task<> task) {
  if (deadline.at == Instant::max()) {
    co_await std::move(task);
    co_return true;
  }
  const Executor executor = co_await asio::this_coro::executor;
  auto both =
      asio::experimental::make_parallel_group(asio::co_spawn(executor, std::move(task), asio::deferred),
                                              asio::co_spawn(executor, clock.sleep_until(deadline.at), asio::deferred));
  const auto ended = co_await both.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  const auto& [order, task_error, sleep_error] = ended;
  if (order[0] == 0) {
    if (task_error) std::rethrow_exception(task_error);
    co_return true;
  }
  // Time was up first, or the caller was cancelled; a task that ended all the same while being cancelled counts.
  if (!task_error) co_return true;
  if (sleep_error) std::rethrow_exception(task_error);
  co_return false;
}

}  // namespace sluice::detail
