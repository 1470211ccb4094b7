#include "adapters/kafka/broker_check.h"

#include <atomic>
#include <utility>

#include "adapters/kafka/handles.h"
#include "runtime/await_request.h"

namespace sluice::kafka {

// One caller that waits for the answer.
class BrokerCheck::Waiter {
 public:
  void expect(WaitingCaller caller) { caller_ = std::move(caller); }
  void leave() {
    if (ended_.exchange(true)) return;
    left_ = true;
    resume(std::move(caller_));
  }
  void end(const Answer& problem) {
    if (ended_.exchange(true)) return;
    problem_ = problem;
    resume(std::move(caller_));
  }
  void throw_if_failed() const {
    if (left_) throw boost::system::system_error(asio::error::operation_aborted);
    if (problem_) throw EngineUnavailable(engine_name, *problem_);
  }

 private:
  WaitingCaller caller_;
  std::atomic<bool> ended_ = false;
  bool left_ = false;
  Answer problem_;
};

Task<> BrokerCheck::reach(Ask ask) {
  const auto waiter = std::make_shared<Waiter>();
  co_await await_request(waiter, [this, ask](const std::shared_ptr<Waiter>& one) { join(one, ask); });
  waiter->throw_if_failed();
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
  const Answer problem = ask();
  Waiters answered;
  {
    const std::lock_guard lock(mutex_);
    answered = std::exchange(waiting_, {});
  }
  for (const auto& waiter : answered) waiter->end(problem);
}

}  // namespace sluice::kafka
