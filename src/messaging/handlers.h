// Runs a consumer's handler for the messages in work: at once for different keys, in order for each, with tries, until
// each has finished or become a dead letter.
//
// A bounded set of worker loops takes messages that may begin; a message costs no task of its own, so that a handler
// without work manages several hundred thousand a second. The time limit of handlers is one periodic check of all
// workers, not a timer for each message: it takes effect up to a quarter late.
#pragma once

#include <list>
#include <map>

#include "messaging/consumer_config.h"
#include "messaging/engine_gate.h"
#include "messaging/handled.h"
#include "messaging/key_queues.h"
#include "messaging/message_log.h"
#include "runtime/metrics.h"
#include "runtime/task_scope.h"
#include "runtime/wakeup.h"

namespace sluice::messaging {

// The parts of a consumer.
struct ConsumerParts {
  MessageLog& log;
  Clock& clock;
  Random& random;
};

// Belongs to one executor.
class Handlers {
 public:
  // Told after each message of a partition that has finished, where `HeldPartition` is paused or is to leave.
  using OnFinished = std::function<void(HeldPartition&)>;

  Handlers(ConsumerParts parts, const ConsumerConfig& config, const ConsumerRole& role, Handler handler,
           Executor executor, OnFinished on_finished);
  ~Handlers();

  void start();
  void add(std::shared_ptr<HeldPartition> held, Delivery delivery) {
    queues_.add(std::move(held), std::move(delivery));
  }
  // Lets workers see added messages.
  void look();

  size_t in_work() const { return queues_.size(); }
  // Returns when nothing is in work, when nothing can continue because an engine is unavailable, or at `when`.
  Task<> drain(Instant when);
  // Cancels running handlers; their tries do not count. Nothing begins afterwards.
  Task<> close();

 private:
  struct Worker;
  struct Counts;

  Task<> work(Worker& worker);
  Task<> handle(Worker& worker, Handling& handling);
  Task<> bury(Handling& handling);
  Handling* next();
  void wake_one();

  void judge(Handling& handling, Handled handled);
  void threw(const Worker& worker, Handling& handling, const std::exception& error);
  void engine_answered();
  void engine_failed(Handling& handling, std::string_view error);
  void retry(Handling& handling, Handled handled);
  void give_up(Handling& handling, Handled handled);
  void try_later(Handling& handling, Duration delay);
  void finish(Handling& handling);

  Task<> keep_time();
  void wake_due(Instant now);
  void end_overdue(Instant now);
  Instant next_look(Instant now) const;

  ConsumerParts parts_;
  const ConsumerConfig& config_;
  const ConsumerRole& role_;
  Handler handler_;
  Executor executor_;
  OnFinished on_finished_;
  std::unique_ptr<Counts> counts_;

  KeyQueues queues_;
  EngineGate gate_;
  std::multimap<Instant, Handling*> later_;  // tries to come

  std::list<Worker> workers_;
  size_t working_ = 0;  // of workers_, those that go on
  std::vector<Worker*> idle_;
  size_t waking_ = 0;  // told to look, and not yet there
  bool closing_ = false;
  TaskScope time_;
  Wakeup time_changed_;
  Wakeup drained_;  // nothing is in work, or the gate closed
};

}  // namespace sluice::messaging
