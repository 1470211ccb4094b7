// Publishing through one instance of librdkafka.
//
// Any thread hands messages over; they are not copied. Reports arrive in batches on the producer's executor, and
// callers of one executor are resumed together. A call ends within the send timeout, regardless of the brokers, or a
// second or two later if they have to be asked whether a topic exists. The pending messages of all calls are bounded: a
// call that does not fit, even alone, is refused before anything of it was sent.
#pragma once

#include <map>
#include <mutex>

#include "adapters/kafka/instances.h"
#include "adapters/kafka/publishing.h"
#include "adapters/kafka/queue_signal.h"
#include "adapters/kafka/reachable.h"
#include "runtime/clock.h"

namespace sluice::kafka {

class Producer {
 public:
  // References must outlive it. Made on the executor, which one thread runs, or before it runs.
  Producer(Instances& instances, const Executor& executor, Clock& clock, std::shared_ptr<Pending> pending);
  // Close it first.
  ~Producer();

  // Calls under way fail. On the executor.
  Task<> close();

  // From any thread.
  Task<std::vector<messaging::Published>> publish(std::vector<messaging::Message> messages);

  // An error that librdkafka can't recover from; a new producer can.
  bool broken() const { return broken_; }
  const Instance& instance() const { return instance_; }

  // Those that have ended, together where they share an executor.
  static void resume(std::vector<std::shared_ptr<Publishing>> ended);

 private:
  using Calls = std::vector<std::shared_ptr<Publishing>>;

  void submit(const std::shared_ptr<Publishing>& call);
  // Those of the topics that don't exist, as far as the brokers tell.
  Task<std::set<std::string>> missing(std::set<std::string> topics);
  rd_kafka_resp_err_t send(Publishing::Sent& sent);
  rd_kafka_topic_t* topic(const std::string& name);
  void look();
  void on_event(rd_kafka_event_t* event, Calls& ended);
  void on_reports(rd_kafka_event_t* event, Calls& ended);
  void on_error(rd_kafka_event_t* event);

  Instances& instances_;
  Clock& clock_;
  const std::shared_ptr<Pending> pending_;
  const Publishing::Send send_;
  const Instance instance_;
  const Queue queue_;
  QueueSignal signal_;
  Reachable reachable_{"producer"};
  std::atomic<bool> broken_ = false;

  std::mutex mutex_;
  std::map<std::string, TopicHandle, std::less<>> topics_;  // guarded by mutex_
};

}  // namespace sluice::kafka
