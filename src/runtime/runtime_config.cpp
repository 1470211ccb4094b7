// How the settings of log, breaker and backoff are written in a configuration.
#include "runtime/breaker.h"
#include "runtime/config_section.h"
#include "runtime/log.h"
#include "runtime/retry.h"

namespace sluice {

void log::Options::describe(config::Section<Options>& section) {
  section.key("level", &Options::level, "Entries below this level are not written.");
  section.key("format", &Options::format, "One JSON object per line, or readable text; auto uses text on a terminal.");
  section
      .bytes("buffer", &Options::buffer_bytes,
             "Buffer for unwritten entries. When it is full, entries are dropped and the log reports how many.")
      .at_least(kib(64));
}

void BreakerConfig::describe(config::Section<BreakerConfig>& section) {
  section.key("window", &BreakerConfig::window, "Number of recent calls that count.").between(1, 64);
  section.key("failure_ratio", &BreakerConfig::failure_ratio, "Fraction of failed calls at which the breaker opens.")
      .between(0.01, 1);
  section.key("open_for", &BreakerConfig::open_for, "Time calls are refused after the breaker first opens.")
      .at_least(1ms);
  section.key("growth", &BreakerConfig::growth, "Factor by which open_for grows each further time.").between(1, 10);
  section.key("open_max", &BreakerConfig::open_max, "Upper limit of open_for.");
  section.key("trial_calls", &BreakerConfig::trial_calls, "Calls that must succeed before the breaker closes.")
      .between(1, 100);
}

void BreakerConfig::validate(config::Problems& problems) const {
  if (open_max < open_for) problems.add("open_max", "must not be shorter than open_for; raise it or lower open_for");
}

void Backoff::describe(config::Section<Backoff>& section) {
  section.key("first", &Backoff::first, "Longest delay before the first retry.").at_least(1ms);
  section.key("factor", &Backoff::factor, "Factor by which the delay grows with each retry.").between(1, 10);
  section.key("max", &Backoff::max, "Upper limit of the delay.");
}

void Backoff::validate(config::Problems& problems) const {
  if (max < first) problems.add("max", "must not be shorter than first; raise it or lower first");
}

}  // namespace sluice
