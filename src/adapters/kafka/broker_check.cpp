#include "adapters/kafka/broker_check.h"

#include <atomic>
#include <exception>
#include <utility>

#include <boost/asio/post.hpp>

#include "runtime/await_request.h"

namespace sluice::kafka {

// One who waits for the answer, on an executor of its own.
class BrokerCheck::Waiter {
 public:
  void expect(Executor executor, std::move_only_function<void()> resume) {
    executor_ = std::move(executor);
    resume_ = std::move(resume);
  }
  void leave() { end(std::make_exception_ptr(boost::system::system_error(asio::error::operation_aborted))); }
  void end(std::exception_ptr error) {
    if (ended_.exchange(true)) return;
    error_ = std::move(error);
    asio::post(executor_, std::exchange(resume_, {}));
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  Executor executor_;
  std::move_only_function<void()> resume_;
  std::atomic<bool> ended_ = false;
  std::exception_ptr error_;
};

Task<> BrokerCheck::reach(Ask ask) {
  const auto waiter = std::make_shared<Waiter>();
  co_await await_request(waiter, [this, ask](const std::shared_ptr<Waiter>& one) { join(one, ask); });
  waiter->rethrow();
}

void BrokerCheck::join(const std::shared_ptr<Waiter>& waiter, Ask ask) {
  const std::lock_guard lock(mutex_);
  const bool under_way = !waiting_.empty();
  waiting_.push_back(waiter);
  if (under_way) return;
  // There is room for it: the one before has only to leave its thread.
  thread_.try_submit([this, ask = std::move(ask)] { answer(ask); });
}

void BrokerCheck::answer(const Ask& ask) {
  std::exception_ptr error;
  try {
    ask();
  } catch (...) {
    error = std::current_exception();
  }
  Waiters answered;
  {
    const std::lock_guard lock(mutex_);
    answered = std::exchange(waiting_, {});
  }
  for (const auto& waiter : answered) waiter->end(error);
}

}  // namespace sluice::kafka
