#include "adapters/postgres/postgres_database.h"

#include <boost/asio/post.hpp>

#include "adapters/postgres/dispatcher.h"

namespace sluice::postgres {
namespace {

Task<sql::Rows> perform(Dispatcher& dispatcher, RequestKind kind, sql::Statement statement, sql::Params params) {
  const auto request = std::make_shared<Request>(kind, statement.text(sql::Dialect::postgres), std::move(params));
  co_await dispatcher.perform(request);
  co_return request->take();
}

// Its own name, so that metrics tell the two apart.
PostgresConfig for_replica(PostgresConfig config) {
  config.url = config.replica_url;
  config.service += "_replica";
  return config;
}

std::unique_ptr<Dispatcher> start_dispatcher(const PostgresConfig& config, EngineThread& thread, Clock& clock) {
  // Jitter must differ between processes; nothing else depends on it.
  const auto seed = static_cast<uint64_t>(clock.wall().time_since_epoch().count());
  auto dispatcher = std::make_unique<Dispatcher>(config, thread.executor(), clock, seed);
  asio::post(thread.executor(), [started = dispatcher.get()] { started->start(); });
  return dispatcher;
}

}  // namespace

PostgresDatabase::PostgresDatabase(PostgresConfig config, EngineThread& thread, Clock& clock)
    : config_(std::move(config)),
      replica_config_(for_replica(config_)),
      thread_(thread),
      primary_(start_dispatcher(config_, thread, clock)) {
  if (!config_.replica_url.empty()) replica_ = start_dispatcher(replica_config_, thread, clock);
}

PostgresDatabase::~PostgresDatabase() {
  if (replica_) thread_.run(replica_->close());
  thread_.run(primary_->close());
}

Task<sql::Rows> PostgresDatabase::read(sql::Statement statement, sql::Params params) {
  return perform(*primary_, RequestKind::read, statement, std::move(params));
}

Task<sql::Rows> PostgresDatabase::write(sql::Statement statement, sql::Params params) {
  return perform(*primary_, RequestKind::write, statement, std::move(params));
}

Task<sql::Rows> PostgresDatabase::read_relaxed(sql::Statement statement, sql::Params params) {
  if (replica_) {
    try {
      sql::Rows rows = co_await perform(*replica_, RequestKind::read, statement, params);
      co_return rows;
    } catch (const EngineUnavailable&) {
      // The primary has it too.
    }
  }
  sql::Rows rows = co_await perform(*primary_, RequestKind::read, statement, std::move(params));
  co_return rows;
}

Task<> PostgresDatabase::run(const Body& body) {
  const auto request = std::make_shared<Request>(body);
  co_await primary_->perform(request);
  request->take();
}

}  // namespace sluice::postgres
