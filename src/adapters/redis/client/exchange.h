// Connects commands from all threads with the connections of one.
//
// Callers put requests into a queue; the client's thread takes all of them at once and hands each to its node. It also
// keeps all deadlines, and in a cluster updates the map of slots: the map is read at the start, after a redirect or the
// loss of a node, and periodically; concurrent requests for it are combined. A single server serves all slots until it
// reports that it is read-only: then its master does.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>

#include "adapters/redis/client/nodes.h"
#include "runtime/wakeup.h"

namespace sluice::redis {

class Exchange {
 public:
  Exchange(RedisConfig config, Executor executor, Clock& clock);
  ~Exchange();

  // On the executor.
  void start();
  Task<> close();

  // From any thread. Throws Overloaded.
  std::shared_ptr<Request> admit(Command command, Instant deadline);
  // From any thread: resumes on the caller's executor when it has ended. May be called again with the same request.
  Task<Outcome> perform(std::shared_ptr<Request> request);

  const RedisConfig& config() const { return config_; }
  Clock& clock() { return clock_; }
  // Of a wait before trying again. From any thread.
  Duration jittered(unsigned attempt);

 private:
  void submit(std::shared_ptr<Request> request);
  void take_submitted();
  void route(const std::shared_ptr<Request>& request);
  void learn_from(const Request& request);
  Node* node_for(const Request& request);
  void expect_answer_by(Instant deadline);
  Task<> keep_time();
  Task<> keep_slots();
  Task<> refresh_slots();
  // The servers of the slots, as this node reports them.
  Task<std::vector<SlotRange>> slots_by(Address address);
  Task<Reply> ask(Address address, Command command);
  void ask_for_slots();
  // A connection is lost.
  void in_doubt();
  void refuse_unrouted(Failure failure);

  const RedisConfig config_;
  const Place place_;
  const Executor executor_;
  Clock& clock_;
  const Access access_;
  SeededRandom random_;
  Answers answers_;
  const NodeContext context_;
  Nodes nodes_;
  TaskScope scope_;

  std::shared_ptr<std::atomic<size_t>> pending_;
  std::mutex mutex_;
  Requests submitted_;         // guarded by mutex_
  bool closed_ = false;        // guarded by mutex_
  SeededRandom retry_random_;  // guarded by mutex_

  std::deque<std::shared_ptr<Request>> unrouted_;  // until the slots are known
  Instant look_at_ = Instant::max();               // the next deadline of a caller
  Wakeup time_changed_;
  bool slots_wanted_;
  std::string no_slots_because_ = "timed out asking for the cluster's slots";
  bool slots_refused_ = false;  // the last nodes asked did not answer
  Wakeup slots_wanted_now_;
};

}  // namespace sluice::redis
