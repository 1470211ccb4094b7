// How the settings of log, breaker and backoff are written in a configuration.
#include "runtime/breaker.h"
#include "runtime/config_section.h"
#include "runtime/log.h"
#include "runtime/retry.h"

namespace sluice {

void log::Options::describe(config::Section<Options>& section) {
  section.key("level", &Options::level, "Entries below are not written.");
  section.key("format", &Options::format, "One JSON object per line, or text for people.");
  section
      .bytes("buffer", &Options::buffer_bytes,
             "What may wait to be written; more is dropped, and the log says how much.")
      .at_least(kib(64));
}

void BreakerConfig::describe(config::Section<BreakerConfig>& section) {
  section.key("window", &BreakerConfig::window, "How many of the last calls count.").between(1, 64);
  section.key("failure_ratio", &BreakerConfig::failure_ratio, "It opens when this part of them failed.")
      .between(0.01, 1);
  section.key("open_for", &BreakerConfig::open_for, "How long calls are refused the first time.").at_least(1ms);
  section.key("growth", &BreakerConfig::growth, "How much longer each further time.").between(1, 10);
  section.key("open_max", &BreakerConfig::open_max, "How long at most.");
  section.key("trial_calls", &BreakerConfig::trial_calls, "How many must succeed before it closes.").between(1, 100);
}

void BreakerConfig::validate(config::Problems& problems) const {
  if (open_max < open_for) problems.add("open_max", "must not be shorter than open_for; raise it or lower open_for");
}

void Backoff::describe(config::Section<Backoff>& section) {
  section.key("first", &Backoff::first, "The longest wait before the first repetition.").at_least(1ms);
  section.key("factor", &Backoff::factor, "How much longer each further one may be.").between(1, 10);
  section.key("max", &Backoff::max, "The longest wait of all.");
}

void Backoff::validate(config::Problems& problems) const {
  if (max < first) problems.add("max", "must not be shorter than first; raise it or lower first");
}

}  // namespace sluice
