// The engines of an installation, opened: its databases, and Redis where there is one.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "adapters/postgres/engine_thread.h"
#include "adapters/postgres/postgres_news.h"
#include "adapters/redis/client/redis.h"
#include "adapters/sql/driver/database.h"
#include "adapters/sqlite/sqlite_database.h"
#include "api/system_routes.h"
#include "coordination/journal.h"
#include "runtime/clock.h"
#include "runtime/io_threads.h"
#include "server/settings.h"

namespace sluice::server {

class Engines {
 public:
  // Beside an owner: the command line, also next to a running server.
  enum class Access { owner, beside_owner };

  // Opens the engines that the roles need. Throws EngineUnavailable with one sentence for the operator.
  Engines(const Settings& settings, const Roles& roles, Clock& clock, Access access = Access::owner);
  ~Engines();

  sql::Database& of(Service service) const { return *databases_.at(service); }
  // Those that have an outbox, where the relay is among the roles; services of one database share it.
  const std::vector<std::shared_ptr<sql::Database>>& outboxes() const { return outboxes_; }
  // The embedded engine; null on PostgreSQL.
  sqlite::SqliteDatabase* embedded() const { return embedded_.get(); }
  // Null where none is configured.
  redis::Redis* redis() const { return redis_.get(); }
  // Where state in memory survives a crash: of the embedded engine. Null on PostgreSQL.
  coordination::Journal* journal() const { return journal_; }

  // Between the processes that share the service's database, where it can be had: on PostgreSQL without a pooler before
  // it, or with a direct URL.
  std::unique_ptr<postgres::PostgresNews> news(Service service, std::string channel, std::function<void()> heard,
                                               Random& random);

  // One for each engine, for /readyz.
  std::vector<api::EngineProbe> probes() const;

 private:
  const Settings& settings_;
  Clock& clock_;
  std::unique_ptr<postgres::EngineThread> thread_;
  std::map<Service, std::shared_ptr<sql::Database>> databases_;
  std::vector<std::shared_ptr<sql::Database>> outboxes_;
  std::shared_ptr<sqlite::SqliteDatabase> embedded_;
  coordination::Journal* journal_ = nullptr;
  std::unique_ptr<IoThreads> redis_thread_;  // its connections have a thread of their own, like PostgreSQL's
  std::unique_ptr<redis::Redis> redis_;
};

}  // namespace sluice::server
