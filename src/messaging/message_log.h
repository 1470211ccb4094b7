// The log: messages that stay, in order for each key, for any number of groups of readers.
//
// A topic is a fixed number of partitions, and a key belongs to one of them (partition_of). Each group of consumers
// reads every message at least once: a partition belongs to one member of the group at a time, which commits how far it
// is; whoever gets the partition next goes on there. What is published stays for the topic's retention, read or not.
//
// Every implementation passes tests/contract/message_log_contract.h.
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

// The log takes this message never, however often it is asked (too large, unknown topic).
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

  // Makes what is missing and sets retentions; a topic that exists with another number of partitions keeps it, and that
  // is logged. Repeating it is harmless.
  virtual Task<> declare(std::vector<Topic> topics) = 0;

  // Each message is durable or refused when it returns, or its part of the log is away while others are not; outcomes
  // stand in the order of the messages. Messages of one key are stored in their order, and none is stored behind one
  // that was not. Throws EngineUnavailable (Overloaded before anything was done) when nothing is known of any message.
  // Those of which nothing is known may have been stored: whoever tries again may publish twice, in order all the same.
  virtual Task<std::vector<Published>> publish(std::vector<Message> messages) = 0;

  // How many a topic has; 0 where it does not exist. Throws EngineUnavailable.
  virtual Task<int32_t> partitions(std::string topic) = 0;

  // One more member of a group. It belongs to the caller's executor.
  virtual std::unique_ptr<Subscription> subscribe(SubscriptionConfig config, Executor executor) = 0;

  // Names what the log remembers of a topic. It changes when acknowledged messages may be gone: engines that keep what
  // they acknowledged always return the same. `run` changes when what came since the engine last saved may be gone,
  // `life` when everything may. Once asked about a topic, this object publishes to it only while its memory is still
  // what it last answered, and throws EngineUnavailable otherwise: so nothing is ever stored behind a gap that its
  // publisher does not know of.
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
