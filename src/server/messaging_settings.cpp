#include "server/messaging_settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "messaging/wanted_job.h"
#include "runtime/config.h"

namespace sluice::server {
namespace {

// Whoever adds a topic adds it here; nothing is published to one that is not declared.
const std::vector<messaging::Topic>& known_topics() {
  static const std::vector<messaging::Topic> topics = {
      {.name = "reservation.events"},         {.name = "payment.events"}, {.name = "event.events"},
      {.name = messaging::wanted_jobs_topic}, {.name = "dead-letters"},
  };
  return topics;
}

// Of a message: in its topic, and from its end on as a dead letter.
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
           "How many can work at once; counts only before the topic is made. 0 keeps what the topic declares.")
      .between(0, 1000);
  section.key("retention", &TopicSettings::retention,
              "How long messages stay, read or not. 0s keeps what the topic declares.");
}

void MessagingSettings::describe(config::Section<MessagingSettings>& section) {
  section.key("engine", &MessagingSettings::engine,
              "Where messages are kept: embedded, redis or kafka. auto takes Kafka where kafka.brokers is set, else "
              "Redis where redis.url is set, else the embedded database.");
  section.table("outbox", &MessagingSettings::outbox, "How changes that were committed get into the log.");
  section.table("inbox", &MessagingSettings::inbox, "How messages that come twice take effect once.");
  section.table("consumers", &MessagingSettings::consumers, "How messages are handled.");
  section.map("topics", &MessagingSettings::topics, "What differs for one topic, by its name.");
}

void MessagingSettings::validate(config::Problems& problems) const {
  for (const auto& [name, settings] : topics) {
    if (std::ranges::find(known_topics(), name, &messaging::Topic::name) == known_topics().end()) {
      problems.add("topics", fmt::format("there is no topic {}; `sluice log topics` lists them", name));
    }
  }
  const Duration longest = longest_life(declared());
  if (inbox.retention < longest) {
    problems.add("inbox.retention",
                 fmt::format("must be at least {}: so long a message may come again, by the retention "
                             "of topics and of dead letters",
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
  return {"dead-letters"};
}

}  // namespace sluice::server
