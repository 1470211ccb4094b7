#include "adapters/redis/client/together.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sluice::redis {

Task<> together(std::vector<Task<>> tasks) {
  if (tasks.empty()) co_return;
  if (tasks.size() == 1) {
    co_await std::move(tasks.front());
    co_return;
  }
  const Executor executor = co_await asio::this_coro::executor;
  using Operation = decltype(asio::co_spawn(executor, std::move(tasks.front()), asio::deferred));
  std::vector<Operation> operations;
  operations.reserve(tasks.size());
  for (Task<>& task : tasks) operations.push_back(asio::co_spawn(executor, std::move(task), asio::deferred));
  auto group = asio::experimental::make_parallel_group(std::move(operations));
  const auto ended = co_await group.async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
  for (const std::exception_ptr& error : std::get<1>(ended)) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace sluice::redis
