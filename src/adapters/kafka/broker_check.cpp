#include "adapters/kafka/broker_check.h"

#include <utility>

#include "adapters/kafka/handles.h"
#include "runtime/pending_call.h"

namespace sluice::kafka {

// One caller that waits for the answer.
class BrokerCheck::Waiter : public PendingCall {
 public:
  void answer(const Answer& problem) {
    if (!end()) return;
    problem_ = problem;
    resume(take_caller());
  }
  void throw_if_failed() const {
    throw_if_left();
    if (problem_) throw EngineUnavailable(engine_name, *problem_);
  }

 private:
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
  for (const auto& waiter : answered) waiter->answer(problem);
}

}  // namespace sluice::kafka
