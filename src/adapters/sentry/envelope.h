// A report in the form in which Sentry takes it: https://develop.sentry.dev/sdk/envelopes/.
#pragma once

#include <string>

#include "base/id.h"
#include "runtime/error_sink.h"

namespace sluice::sentry {

// Fields common to all reports of a process.
struct Sender {
  std::string release;      // "sluice@1.2.0"
  std::string environment;  // "production"
  std::string server;       // names the machine; empty: not told
};

// A head, the head of the one item, and the event, each a line of JSON. All texts of the report are scrubbed.
std::string envelope(const ErrorReport& report, const Sender& sender, const Uuid& event, Time now);

}  // namespace sluice::sentry
