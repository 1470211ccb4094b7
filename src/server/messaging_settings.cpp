#include "server/messaging_settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "messaging/wanted_job.h"
#include "runtime/config.h"

namespace sluice::server {
namespace {

constexpr const char* dead_letters_topic = "dead-letters";

// The topics of the program. Messages to any other topic are refused.
const std::vector<messaging::Topic>& known_topics() {
  static const std::vector<messaging::Topic> topics = {
      {.name = messaging::wanted_jobs_topic},  // read by the job queue
      {.name = dead_letters_topic},            // read by `sluice dlq` and /api/v1/dead-letters
  };
  return topics;
}

// The longest time that a message exists: in its topic, and then as a dead letter.
Duration longest_life(const std::vector<messaging::Topic>& topics) {
  Duration in_topic{0};
  Duration as_letter{0};
  const std::vector<std::string> letters = dead_letter_topics();
  for (const messaging::Topic& topic : topics) {
    Duration& longest = std::ranges::find(letters, topic.name) != letters.end() ? as_letter : in_topic;
    longest = std::max(longest, topic.retention);
  }
  return in_topic + as_letter;
}

}  // namespace

void TopicSettings::describe(config::Section<TopicSettings>& section) {
  section
      .key("partitions", &TopicSettings::partitions,
           "Number of partitions, the limit on parallel readers. Used only when the topic is created; 0 uses "
           "the topic's own number.")
      .between(0, 1000);
  section.key("retention", &TopicSettings::retention,
              "Time messages are kept, read or not; 0s uses the topic's own retention.");
}

void MessagingSettings::describe(config::Section<MessagingSettings>& section) {
  section.key("engine", &MessagingSettings::engine,
              "Engine of the message log. auto selects kafka if kafka.brokers is set, else redis if redis.url is "
              "set, else the embedded database.");
  section.table("outbox", &MessagingSettings::outbox, "The outbox, which publishes committed changes to the log.");
  section.table("inbox", &MessagingSettings::inbox, "The inbox, which makes repeated messages take effect once.");
  section.table("consumers", &MessagingSettings::consumers, "Consumers of messages.");
  section.map("topics", &MessagingSettings::topics, "Settings for one topic, by its name.");
}

void MessagingSettings::validate(config::Problems& problems) const {
  for (const auto& [name, settings] : topics) {
    if (std::ranges::find(known_topics(), name, &messaging::Topic::name) == known_topics().end()) {
      problems.add("topics", fmt::format("the topic {} does not exist; `sluice log topics` lists all", name));
    }
  }
  const Duration longest = longest_life(declared());
  if (inbox.retention < longest) {
    problems.add(
        "inbox.retention",
        fmt::format("must be at least {}: a message may be delivered again for this time, the retention of topics plus "
                    "that of dead letters",
                    format_duration(longest)));
  }
}

std::vector<messaging::Topic> MessagingSettings::declared() const {
  std::vector<messaging::Topic> all = known_topics();
  for (messaging::Topic& topic : all) {
    const auto own = topics.find(topic.name);
    if (own == topics.end()) continue;
    if (own->second.partitions > 0) topic.partitions = static_cast<int32_t>(own->second.partitions);
    if (own->second.retention > Duration{0}) topic.retention = own->second.retention;
  }
  return all;
}

std::vector<std::string> dead_letter_topics() {
  return {dead_letters_topic};
}

}  // namespace sluice::server
