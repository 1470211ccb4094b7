// A command on its way through the client: from the caller's thread to a connection and back.
//
// A command whose caller was cancelled may still run; its reply is read and dropped.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "adapters/redis/client/command.h"
#include "adapters/redis/client/redis_config.h"
#include "adapters/redis/client/reply.h"
#include "runtime/errors.h"
#include "runtime/pending_call.h"

namespace sluice::redis {

struct Failure {
  enum class Kind {
    not_sent,  // it certainly did not run
    unknown,   // it was sent, and the connection is lost
    late,      // its time was up; it may have run or still run
    closing,   // not sent, and never will be
  };
  Kind kind = Kind::not_sent;
  std::string text;
};

// The text of an error without the engine's name, which is added again when it is thrown on.
std::string reason_of(const EngineUnavailable& error);

struct NodeReply {
  Reply reply;
  Address from;
};

using Outcome = std::variant<NodeReply, Failure>;

// The node for a command; without an address the node that has its slot, without a slot any node.
struct Target {
  std::optional<Address> address;
  bool asking = false;     // the slot is on its way to that node
  bool moved = false;      // that node has the slot now, as another one told
  bool map_stale = false;  // the map of slots should be read again
};

// A place among the pending ones; given back when the last trace of the request is gone from the client.
class Admission {
 public:
  explicit Admission(std::shared_ptr<std::atomic<size_t>> pending) : pending_(std::move(pending)) { ++*pending_; }
  ~Admission() { --*pending_; }
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

 private:
  std::shared_ptr<std::atomic<size_t>> pending_;
};

class Request : public PendingCall {
 public:
  Request(Command command, Instant deadline, std::shared_ptr<std::atomic<size_t>> pending)
      : command(std::move(command)), deadline(deadline), admission_(std::move(pending)) {}

  const Command command;
  const Instant deadline;
  Target target;
  Command::ScriptBy script_by = Command::ScriptBy::hash;

  // For the client's thread.
  Instant sent_at{};
  bool counted = false;  // the breaker has heard how it went
  // False when it has ended before. True is followed by resuming the caller.
  bool finish(Outcome outcome);
  // Finishes it and resumes the caller at once.
  void refuse(Failure failure);

  // For the caller. It may be submitted again afterwards.
  Outcome take();

 private:
  Admission admission_;
  Outcome outcome_;
};

using Requests = std::vector<std::shared_ptr<Request>>;

// Resumes the callers of finished requests, all of one turn together.
// Belongs to one executor.
class Answers {
 public:
  explicit Answers(Executor executor) : executor_(std::move(executor)) {}

  void finish(const std::shared_ptr<Request>& request, Outcome outcome);
  // At once, not at the end of the turn.
  void flush();

 private:
  Executor executor_;
  std::vector<WaitingCaller> finished_;
};

}  // namespace sluice::redis
