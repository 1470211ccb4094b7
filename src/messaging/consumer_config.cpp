#include "messaging/consumer_config.h"

#include "runtime/config_section.h"

namespace sluice::messaging {

void ConsumerConfig::describe(config::Section<ConsumerConfig>& section) {
  section.key("handlers", &ConsumerConfig::handlers, "Messages handled at the same time, each of another key.")
      .between(1, 10'000);
  section.key("in_work", &ConsumerConfig::in_work, "Unfinished messages of a partition; then fetching pauses.")
      .between(4, 100'000);
  section.bytes("in_work_bytes", &ConsumerConfig::in_work_bytes, "The same in bytes.").between(mib(1), gib(4));
  section
      .key("window", &ConsumerConfig::window,
           "Messages of a partition from the first unfinished one on: what is delivered again after a crash.")
      .between(4, 10'000'000);
  section.key("batch", &ConsumerConfig::batch, "Messages fetched at once.").between(1, 10'000);
  section.key("tries", &ConsumerConfig::tries, "Tries of a message before it becomes a dead letter.").between(1, 100);
  section.table("retry", &ConsumerConfig::retry, "Between two tries of a message.");
  section.table("pause", &ConsumerConfig::pause, "Between two looks at an engine that is away.");
  section.key("handler_timeout", &ConsumerConfig::handler_timeout, "After this a handler is cancelled; that is a try.")
      .at_least(10ms);
  section.key("commit_every", &ConsumerConfig::commit_every, "How often progress is committed.").between(10ms, 1min);
  section.key("drain", &ConsumerConfig::drain, "How long a consumer that stops finishes what it has.").at_least(0s);
  section
      .key("session", &ConsumerConfig::session, "How long a consumer may be silent before its partitions go to others.")
      .between(1s, 5min);
  section
      .key("handover", &ConsumerConfig::handover, "How long a partition that is asked back may be kept to finish it.")
      .between(1s, 5min);
}

void ConsumerConfig::validate(config::Problems& problems) const {
  if (window < in_work) problems.add("window", "must not be smaller than in_work; enlarge it");
}

}  // namespace sluice::messaging
