// Which engine keeps the log, and which topics there are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "adapters/sql/messaging/inbox.h"
#include "base/enum_names.h"
#include "messaging/consumer_config.h"
#include "messaging/outbox_relay.h"
#include "messaging/topic.h"
#include "runtime/config_fwd.h"

namespace sluice::server {

enum class LogEngine { automatic, embedded, redis, kafka };

constexpr auto enum_names(LogEngine) {
  return std::to_array<EnumName<LogEngine>>({{LogEngine::automatic, "auto"},
                                             {LogEngine::embedded, "embedded"},
                                             {LogEngine::redis, "redis"},
                                             {LogEngine::kafka, "kafka"}});
}

// Differences from the topic's own declaration.
struct TopicSettings {
  int64_t partitions = 0;  // 0: as declared
  Duration retention{0};   // 0: as declared

  static void describe(config::Section<TopicSettings>& section);
};

struct MessagingSettings {
  LogEngine engine = LogEngine::automatic;
  std::map<std::string, TopicSettings> topics;
  messaging::OutboxRelayConfig outbox;
  sql::InboxConfig inbox;
  messaging::ConsumerConfig consumers;

  static void describe(config::Section<MessagingSettings>& section);
  void validate(config::Problems& problems) const;

  // Every topic of the installation, as `sluice migrate` makes it.
  std::vector<messaging::Topic> declared() const;
};

// The topics that hold dead letters.
std::vector<std::string> dead_letter_topics();

}  // namespace sluice::server
