// Detects that the log of a topic has lost acknowledged messages.
//
// Before the first row of a topic is published, and once a second from then on, the log is asked for its memory
// (message_log.h) and the store is told. If it has changed, the store unpublishes rows that may be lost, and the relay
// starts over. A log that does not answer (a part of it is unavailable) refuses messages if its memory differs from the
// one last reported, so that publishing may continue.
#pragma once

#include <map>
#include <optional>

#include "messaging/outbox_store.h"
#include "runtime/deadline.h"

namespace sluice::messaging {

// Belongs to one executor.
class OutboxTopics {
 public:
  struct Times {
    Duration timeout;  // of the log's answer
    // How far a log that lost its run may have fallen back, from when the run was last seen.
    Duration rerun_margin;
  };
  OutboxTopics(OutboxStore& store, MessageLog& log, Clock& clock, Times times)
      : store_(store), log_(log), clock_(clock), times_(times) {}

  bool due() const { return clock_.now() >= due_; }
  // Asks about all topics. True: a log has lost messages; rows read from the store before are void. Nothing may be in
  // flight to the log meanwhile: it would count as published after the answer.
  Task<bool> check();
  // Whether the topics of these rows were ever asked about, and the same for those that were not.
  bool knows(const std::vector<OutboxRow>& rows) const;
  Task<bool> meet(const std::vector<OutboxRow>& rows);
  // Publishing failed: asks again before anything else.
  void doubt() { due_ = Instant{}; }

 private:
  struct Known {
    std::optional<MessageLog::Memory> memory{};
    Instant told{};  // the store
  };
  bool knows(const std::string& topic) const;
  Task<bool> ask(std::string topic);

  OutboxStore& store_;
  MessageLog& log_;
  Clock& clock_;
  const Times times_;
  std::map<std::string, Known> topics_;
  bool loaded_ = false;
  bool untold_ = false;  // the log did not answer
  Instant due_{};
};

}  // namespace sluice::messaging
