// The world failed: the one family of exceptions.
//
// Adapters throw EngineUnavailable when an engine is down, slow or full. It is handled only at the HTTP edge (503 with
// Retry-After), by worker loops (backoff) and by `retry`. Outcomes of the rules are never exceptions (base/result.h).
#pragma once

#include <stdexcept>
#include <string>

#include "base/time.h"

namespace sluice {

class EngineUnavailable : public std::runtime_error {
 public:
  enum class Retryable { no, yes };

  // `engine` is the failed engine's name for operators ("postgres", "sqlite").
  EngineUnavailable(std::string engine, const std::string& what, Retryable retryable = Retryable::yes,
                    Duration retry_after = 1s)
      : std::runtime_error(engine + ": " + what),
        engine_(std::move(engine)),
        retryable_(retryable == Retryable::yes),
        retry_after_(retry_after) {}

  const std::string& engine() const { return engine_; }
  // Whether the same call may succeed a little later and is harmless to repeat.
  bool retryable() const { return retryable_; }
  Duration retry_after() const { return retry_after_; }

 private:
  std::string engine_;
  bool retryable_;
  Duration retry_after_;
};

// A bounded queue in front of the engine is full: refused before any work was done.
class Overloaded : public EngineUnavailable {
 public:
  explicit Overloaded(std::string engine, Duration retry_after = 1s)
      : EngineUnavailable(std::move(engine), "too many calls are waiting", Retryable::yes, retry_after) {}
};

// The call did not end in its time. Whether it took effect is unknown, so it is not repeated blindly.
class DeadlineExceeded : public EngineUnavailable {
 public:
  explicit DeadlineExceeded(std::string engine) : EngineUnavailable(std::move(engine), "timed out", Retryable::no) {}
};

// An engine refused a statement: the statement is wrong, or newer than the tables because `sluice migrate` has not run
// yet. At the HTTP edge it is an internal error; a loop reports it and continues, more slowly.
class EngineRefused : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace sluice
