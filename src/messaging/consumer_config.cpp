#include "messaging/consumer_config.h"

#include "runtime/config_section.h"

namespace sluice::messaging {

void ConsumerConfig::describe(config::Section<ConsumerConfig>& section) {
  section.key("handlers", &ConsumerConfig::handlers, "Messages handled at once, each with a different key.")
      .between(1, 10'000);
  section
      .key("in_work", &ConsumerConfig::in_work,
           "Limit on unfinished messages per partition; fetching pauses at this limit.")
      .between(4, 100'000);
  section
      .bytes("in_work_bytes", &ConsumerConfig::in_work_bytes,
             "Limit on the bytes of unfinished messages per partition.")
      .between(mib(1), gib(4));
  section
      .key("window", &ConsumerConfig::window,
           "Limit on messages per partition from the first unfinished one on; a crash delivers these again.")
      .between(4, 10'000'000);
  section.key("batch", &ConsumerConfig::batch, "Messages fetched at once.").between(1, 10'000);
  section.key("tries", &ConsumerConfig::tries, "Tries of a message before it becomes a dead letter.").between(1, 100);
  section.table("retry", &ConsumerConfig::retry, "Delay between tries of a message.");
  section.table("pause", &ConsumerConfig::pause, "Delay between checks of an unavailable engine.");
  section
      .key("handler_timeout", &ConsumerConfig::handler_timeout,
           "Time limit for a handler; then it is cancelled, which counts as a try.")
      .at_least(10ms);
  section.key("commit_every", &ConsumerConfig::commit_every, "Interval between commits of progress.")
      .between(10ms, 1min);
  section.key("drain", &ConsumerConfig::drain, "Time for a stopping consumer to finish its messages.").at_least(0s);
  section.key("session", &ConsumerConfig::session, "Time a consumer may be silent before its partitions go to others.")
      .between(1s, 5min);
  section
      .key("handover", &ConsumerConfig::handover,
           "Time a consumer may keep a revoked partition to finish its messages.")
      .between(1s, 5min);
}

void ConsumerConfig::validate(config::Problems& problems) const {
  if (window < in_work) problems.add("window", "must not be smaller than in_work; raise it");
}

}  // namespace sluice::messaging
