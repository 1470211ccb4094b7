// Redis 7 or Valkey, a single server or a Cluster, for adapters.
//
//   const Script release{"..."};
//   Command command = Command(release, {key}).arg(owner);
//   const Reply reply = co_await redis.run(std::move(command), deadline);
//
// Commands of all callers share a few connections and leave together: those waiting when the socket is free go out in
// one write. In a cluster each goes to the node that has its slot; MOVED, ASK, resharding and failover are handled
// here, within the command's time. If a single server became a replica, its master is used instead.
//
// What happens to a command:
//   - it is answered: `run` returns the reply;
//   - the server refuses it: Refused, with the server's words;
//   - it certainly did not run (no connection, breaker open, too many pending): EngineUnavailable or Overloaded,
//   retryable;
//   - its outcome is unknown (the connection broke after it was sent, or its time was up): EngineUnavailable or
//     DeadlineExceeded, not retryable. A command that is `repeatable` is sent again instead while there is time.
// A server that does not answer is not asked for a while (a breaker for each node).
//
// No blocking commands (BLPOP, XREAD BLOCK, SUBSCRIBE): they would delay all other commands. Messages have their own
// connection, see subscriber.h.
//
// Threads: the connections live on one executor, which one thread runs; `run` may be called from any thread and
// resumes on the caller's executor. A caller that is cancelled leaves at once; its command may still run.
#pragma once

#include <memory>
#include <string>

#include "adapters/redis/client/command.h"
#include "adapters/redis/client/redis_config.h"
#include "adapters/redis/client/reply.h"
#include "runtime/deadline.h"

namespace sluice::redis {

// Its name in metrics, logs and errors.
inline constexpr const char* engine_name = "redis";

// The server answered with an error: "WRONGTYPE Operation against a key holding the wrong kind of value".
class Refused : public EngineUnavailable {
 public:
  explicit Refused(const std::string& text, Retryable retryable = Retryable::no)
      : EngineUnavailable(engine_name, text, retryable), code_(text.substr(0, text.find(' '))) {}

  const std::string& code() const { return code_; }  // "WRONGTYPE"

 private:
  std::string code_;
};

class Exchange;

class Redis {
 public:
  // Starts connecting; the first call shows whether the server answers. `executor` and `clock` must outlive it. Throws
  // std::runtime_error with one sentence if the CA file is unusable.
  Redis(RedisConfig config, Executor executor, Clock& clock);
  // Close it first.
  ~Redis();

  // Fails pending commands and closes the connections. On the executor.
  Task<> close();

  // Its time is up at `deadline`, and after the command's own timeout at the latest.
  Task<Reply> run(Command command, Deadline deadline = {});

 private:
  std::unique_ptr<Exchange> exchange_;
};

}  // namespace sluice::redis
