// The log in the embedded file.
//
// Publishing shares the commits of all other writers (LogAppender), and a change can put its message into the log in
// its own transaction (adapters/sql/messaging/outbox.h): then there is no outbox and no delay. Groups of readers live
// in the process that owns the file; a visitor may publish and look, and its messages are noticed within a second.
#pragma once

#include "adapters/sqlite/log/embedded_subscription.h"
#include "adapters/sqlite/log/log_appender.h"
#include "adapters/sqlite/sqlite_database.h"
#include "messaging/message_log.h"

namespace sluice::sqlite {

class EmbeddedLog final : public messaging::MessageLog {
 public:
  // Both outlive it, and it outlives its subscriptions.
  EmbeddedLog(SqliteDatabase& database, Clock& clock)
      : database_(database), clock_(clock), topics_(database), groups_(bell_, clock) {}

  Task<> declare(std::vector<messaging::Topic> topics) override { return topics_.declare(std::move(topics)); }
  Task<std::vector<messaging::Published>> publish(std::vector<messaging::Message> messages) override;
  Task<int32_t> partitions(std::string topic) override;
  std::unique_ptr<messaging::Subscription> subscribe(messaging::SubscriptionConfig config, Executor executor) override;
  Task<Memory> memory(std::string topic) override;

  // Rings when something was published; code that writes into the log by other means rings it too.
  messaging::Bell& bell() { return bell_; }
  LogTopics& topics() { return topics_; }
  const LogGroups& groups() const { return groups_; }

 private:
  struct Screened;
  Screened screen(const std::vector<messaging::Message>& messages) const;
  Task<std::vector<messaging::Published>> publish_to_news(std::vector<messaging::Message> messages);
  Task<std::vector<messaging::Published>> store(Screened screened);

  SqliteDatabase& database_;
  Clock& clock_;
  messaging::Bell bell_;
  LogTopics topics_;
  LogGroups groups_;
};

}  // namespace sluice::sqlite
