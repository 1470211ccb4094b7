// The message log of an installation, on the selected engine, and its users.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/sql/messaging/outbox.h"
#include "messaging/dead_letters.h"
#include "messaging/log_view.h"
#include "messaging/message_log.h"
#include "runtime/task_scope.h"
#include "server/engines.h"
#include "server/outbox_relays.h"

namespace sluice::server {

// The engine selected by the settings; nothing if there is none for messages (PostgreSQL without Redis and Kafka).
std::optional<LogEngine> chosen_log_engine(const Settings& settings);

// Created at start, on one thread; the returned objects live as long as it does.
class MessageParts {
 public:
  // `executor` is where its loops run. References must outlive it.
  MessageParts(const Settings& settings, LogEngine engine, Engines& engines, Clock& clock, Random& random,
               Executor executor);
  ~MessageParts();

  messaging::MessageLog& log();
  messaging::LogView& view();
  messaging::DeadLetters& dead_letters() { return dead_letters_; }

  // For stores that tell of their changes.
  sql::Outbox outbox();

  // Makes the topics, as `sluice migrate` does.
  Task<> declare_topics();

  // Throws EngineUnavailable where the log has an engine of its own that does not answer.
  Task<> reach();

  // Makes sure of the topics, relays outboxes, keeps messages for their retention and the lag in the metrics. On the
  // executor.
  void start(TaskScope& scope);
  // After the scope was closed.
  Task<> close();

 private:
  class LogParts;
  class Embedded;
  class InRedis;
  class InKafka;
  using Lags = std::map<std::pair<std::string, std::string>, int64_t>;  // by topic and group

  std::unique_ptr<LogParts> open(const Settings& settings, LogEngine engine, Engines& engines,
                                 const Executor& executor);
  static OutboxRelays::Databases patient(const Engines& engines);
  static std::vector<messaging::OutboxDead*> make_dead(const OutboxRelays::Databases& databases,
                                                       std::vector<std::unique_ptr<sql::SqlOutboxDead>>& made);
  // Throws EngineUnavailable while topics are missing.
  Task<> prepare();
  Task<> begin(TaskScope& scope);
  Task<> count_lag();
  Task<> count_letters();

  Clock& clock_;
  Random& random_;
  const std::vector<messaging::Topic> topics_;
  std::unique_ptr<LogParts> log_parts_;
  messaging::Bell outbox_bell_;
  const OutboxRelays::Databases outboxes_;
  std::vector<std::unique_ptr<sql::SqlOutboxDead>> dead_rows_;
  messaging::DeadLetters dead_letters_;
  Lags lags_;                             // as they were last exposed
  std::unique_ptr<OutboxRelays> relays_;  // null where messages get into the log with their changes
};

}  // namespace sluice::server
