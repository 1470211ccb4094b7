// Reports failures that need attention, in addition to the log.
//
// A log is read by people who already know of a problem; a sink collects failures, counts them and alerts people.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace sluice {

// Texts may contain input of strangers; an implementation scrubs a report before it leaves the installation.
struct ErrorReport {
  enum class Severity { warning, error };

  Severity severity = Severity::error;
  Time at{};
  std::string type;     // the kind of failure, the same for all that belong together: "enrich_link failed"
  std::string message;  // details of this occurrence
  std::vector<std::pair<std::string, std::string>> tags{};     // to search by
  std::vector<std::pair<std::string, std::string>> details{};  // to read
};

class ErrorSink {
 public:
  virtual ~ErrorSink() = default;

  // From any thread. Never waits and never throws: a report that does not fit is dropped and counted.
  virtual void report(ErrorReport report) = 0;
};

}  // namespace sluice
