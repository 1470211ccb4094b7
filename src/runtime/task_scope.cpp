#include "runtime/task_scope.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>

#include "base/check.h"

namespace sluice {
namespace {

void die_unless_cancelled(const std::string& name, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const boost::system::system_error& e) {
    check_that(e.code() == asio::error::operation_aborted, "task {} threw: {}", name, e.what());
  } catch (const std::exception& e) {
    check_that(false, "task {} threw: {}", name, e.what());
  }
}

}  // namespace

TaskScope::TaskScope(Executor executor)
    : executor_(std::move(executor)), empty_(executor_, asio::steady_timer::time_point::max()) {}

TaskScope::~TaskScope() {
  check(running_.empty(), "a TaskScope must be closed before it is destroyed");
}

void TaskScope::spawn(std::string name, Task<> task) {
  if (closed_) return;
  running_.emplace_front(std::move(name));
  const auto self = running_.begin();
  asio::co_spawn(executor_, std::move(task),
                 asio::bind_cancellation_slot(self->cancel.slot(), [this, self](const std::exception_ptr& error) {
                   if (error) die_unless_cancelled(self->name, error);
                   running_.erase(self);
                   if (running_.empty()) empty_.cancel();
                 }));
}

void TaskScope::cancel() {
  closed_ = true;
  for (auto it = running_.begin(); it != running_.end();) {
    const auto current = it++;  // a task may end, and leave the list, while it is told
    current->cancel.emit(asio::cancellation_type::terminal);
  }
}

Task<> TaskScope::close() {
  cancel();
  co_await join();
}

Task<> TaskScope::join() {
  // The caller may be cancelled meanwhile, and the tasks must be waited for all the same. It learns of it at its next
  // await: only this wait is deaf, the caller's cancellation state stays as it is.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!running_.empty()) {
    boost::system::error_code woken;
    co_await empty_.async_wait(
        asio::bind_cancellation_slot(asio::cancellation_slot(), asio::redirect_error(asio::use_awaitable, woken)));
  }
  co_await asio::this_coro::throw_if_cancelled(throws);
}

}  // namespace sluice
