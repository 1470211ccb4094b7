// Where failures are told that somebody should look at, beside the log.
//
// A log is searched by who knows already that something is wrong; a sink gathers failures, counts them and calls
// people.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace sluice {

// Texts may hold what strangers sent; whoever sends a report out of the house scrubs it.
struct ErrorReport {
  enum class Severity { warning, error };

  Severity severity = Severity::error;
  Time at{};
  std::string type;     // what kind of failure, the same for all that belong together: "enrich_link failed"
  std::string message;  // what happened this time
  std::vector<std::pair<std::string, std::string>> tags{};     // to search by
  std::vector<std::pair<std::string, std::string>> details{};  // to read
};

class ErrorSink {
 public:
  virtual ~ErrorSink() = default;

  // From any thread. Never waits and never throws: what can't be taken is dropped and counted.
  virtual void report(ErrorReport report) = 0;
};

}  // namespace sluice
