// The log: messages that stay, in order for each key, for any number of groups of readers.
//
// A topic is a fixed number of partitions, and a key belongs to one of them (partition_of). Each consumer group reads
// every message at least once: a partition belongs to one member of the group at a time, which commits its progress;
// the next owner of the partition continues there. Published messages stay for the topic's retention, read or not.
//
// Every implementation passes tests/contract/message_log_contract.cpp.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "messaging/message.h"
#include "messaging/subscription.h"
#include "messaging/topic.h"
#include "runtime/task.h"

namespace sluice::messaging {

// The log will never accept this message (too large, unknown topic).
struct Rejected {
  std::string reason;
};
// Not tried, because an earlier message of its topic and key in the same call was rejected, or its outcome is unknown.
struct HeldBack {};
// Stored or not: the part of the log that it belongs to did not answer.
struct Unknown {
  std::string why;
};
using Published = std::variant<Position, Rejected, HeldBack, Unknown>;

// No message was stored or rejected for certain.
bool nothing_known(const std::vector<Published>& outcomes);

// Safe to use from any thread; results arrive on the caller's executor.
class MessageLog {
 public:
  virtual ~MessageLog() = default;

  // Creates missing topics and sets retentions; a topic that exists with another number of partitions keeps it, and
  // that is logged. Repeating it is harmless.
  virtual Task<> declare(std::vector<Topic> topics) = 0;

  // Each message is durable or refused when it returns, or its part of the log is unavailable while others are not;
  // outcomes are in the order of the messages. Messages of one key are stored in order, and none is stored behind one
  // that was not. Throws EngineUnavailable (Overloaded before anything was done) if nothing is known of any message.
  // Messages with an unknown outcome may have been stored: a retry may publish them twice, still in order.
  virtual Task<std::vector<Published>> publish(std::vector<Message> messages) = 0;

  // How many a topic has; 0 where it does not exist. Throws EngineUnavailable.
  virtual Task<int32_t> partitions(std::string topic) = 0;

  // One more member of a group. It belongs to the caller's executor.
  virtual std::unique_ptr<Subscription> subscribe(SubscriptionConfig config, Executor executor) = 0;

  // Identifies the state of a topic's log. It changes when acknowledged messages may be lost: engines that never lose
  // them always return the same. `run` changes when messages since the engine's last save may be lost, `life` when all
  // may. Once asked about a topic, this object publishes to it only while its memory is the one last returned, and
  // throws EngineUnavailable otherwise: so nothing is ever stored behind a gap that its publisher does not know of.
  struct Memory {
    std::string life;
    std::string run;
    friend bool operator==(const Memory&, const Memory&) = default;
  };
  virtual Task<Memory> memory(std::string topic) = 0;
};

// Publishes one message. Throws std::invalid_argument with the reason where it is rejected, which is a mistake of ours.
Task<Position> publish_one(MessageLog& log, Message message);

}  // namespace sluice::messaging
