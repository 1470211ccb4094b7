// A member of a consumer group, as the engine sees it. Features use Consumer (messaging/consumer.h), which keeps
// order, retries and commits; it is the one user of this port.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "messaging/message.h"
#include "runtime/deadline.h"

namespace sluice::messaging {

struct SubscriptionConfig {
  std::string group;
  std::vector<std::string> topics;
  // How long a member may be silent before its partitions go to others.
  Duration session = 10s;
  // Time a revoked partition may be kept to finish messages in work.
  Duration handover = 20s;
};

using AssignmentRef = std::shared_ptr<const Assignment>;

struct Fetched {
  // In the order of their partition; partitions are mixed.
  std::vector<Delivery> deliveries{};
  // Revoked: no more messages of them arrive. Their owner finishes messages in work, commits and calls let_go, within
  // `handover`.
  std::vector<AssignmentRef> leaving{};
  // Already owned by another member; uncommitted messages will be delivered there again.
  std::vector<AssignmentRef> lost{};

  bool empty() const { return deliveries.empty() && leaving.empty() && lost.empty(); }
};

// Everything before `next` has been dealt with.
struct Progress {
  AssignmentRef assignment;
  int64_t next = 0;
};

// Belongs to one executor. A group starts at the oldest message there is.
class Subscription {
 public:
  virtual ~Subscription() = default;

  // Available messages, at most `most`, fewer if they are large; waits until `deadline`, then returns nothing. One call
  // at a time (commits and let_go may run meanwhile); calling it is the member's heartbeat. Throws EngineUnavailable,
  // and recovers when called again. A cancelled call skips nothing: messages it had taken come with the next.
  virtual Task<Fetched> fetch(size_t most, Deadline deadline) = 0;

  // Durable when it returns. Progress of an assignment that has ended is ignored, so is one that goes back.
  virtual Task<> commit(std::vector<Progress> progress) = 0;

  // No messages of this assignment are fetched until it is resumed; it stays the member's. A fetch that waits notices
  // either at once.
  virtual void pause(const AssignmentRef& assignment) = 0;
  virtual void resume(const AssignmentRef& assignment) = 0;

  // Releases a revoked partition.
  virtual Task<> let_go(AssignmentRef assignment) = 0;

  // Leaves the group, so that others take over at once. Messages in work are lost to them: stop, commit, then close. No
  // fetch may be running.
  virtual Task<> close() = 0;
};

}  // namespace sluice::messaging
