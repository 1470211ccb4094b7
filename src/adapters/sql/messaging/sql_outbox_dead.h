// Rows of the outbox in SQL that the log refused for good. On PostgreSQL `database` is logged in as `common`.
#pragma once

#include "adapters/sql/driver/database.h"
#include "messaging/outbox_dead.h"

namespace sluice::sql {

class SqlOutboxDead : public messaging::OutboxDead {
 public:
  explicit SqlOutboxDead(Database& database) : database_(database) {}

  Task<size_t> count() override;
  Task<std::vector<messaging::DeadRow>> list(int64_t after, size_t most) override;
  Task<bool> replay(int64_t id) override;
  Task<bool> discard(int64_t id) override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
