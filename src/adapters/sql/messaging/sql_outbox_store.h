// The outbox in SQL, for relays. On PostgreSQL `database` is logged in as `common`.
#pragma once

#include "adapters/sql/driver/database.h"
#include "messaging/outbox_store.h"

namespace sluice::sql {

class SqlOutboxStore : public messaging::OutboxStore {
 public:
  explicit SqlOutboxStore(Database& database) : database_(database) {}

  Task<std::vector<messaging::HeldBucket>> hold(std::string owner, Duration ttl) override;
  Task<> release(std::string owner) override;
  Task<messaging::OutboxBatch> unpublished(std::vector<messaging::BucketScan> scans, messaging::BatchLimits limits,
                                           std::vector<std::string> without) override;
  Task<> mark_published(std::vector<messaging::OutboxMark> marks) override;
  Task<messaging::Refusal> refuse(messaging::OutboxMark mark, std::string reason, int tries) override;
  Task<bool> remember(std::string topic, messaging::MessageLog::Memory memory, Duration margin) override;
  Task<std::vector<std::string>> topics() override;
  Task<messaging::OutboxLag> lag(std::vector<messaging::BucketScan> scans) override;
  Task<std::optional<int64_t>> sweep(int64_t after, size_t most, Duration keep) override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
