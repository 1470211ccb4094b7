#include "server/engines.h"

#include <set>

#include <boost/asio/use_future.hpp>

#include "adapters/postgres/postgres_database.h"

namespace sluice::server {
namespace {

Task<> ask_for_one(std::shared_ptr<sql::Database> database) {
  co_await database->read("SELECT 1");
}

Task<> ask_for_pong(redis::Redis& redis) {
  redis::Command ping = redis::Command("PING").repeatable();
  co_await redis.run(std::move(ping));
}

}  // namespace

Engines::Engines(const Settings& settings, const Roles& roles, Clock& clock, Access access)
    : settings_(settings), clock_(clock) {
  if (settings.redis.used()) {
    redis_thread_ = std::make_unique<IoThreads>(1);
    redis_ = std::make_unique<redis::Redis>(settings.redis, redis_thread_->executor(0), clock);
    redis_thread_->start();
  }
  if (!settings.postgres.used()) {
    sqlite::SqliteOptions options = settings.sqlite;
    options.folder = settings.storage.data;
    options.may_visit = access == Access::beside_owner;
    embedded_ = std::make_shared<sqlite::SqliteDatabase>(options, clock);
    if (access == Access::owner) journal_ = &embedded_->journal();
    for (const Service service : roles) databases_.emplace(service, embedded_);
    if (roles.contains(Service::relay)) outboxes_.push_back(embedded_);
    return;
  }
  thread_ = std::make_unique<postgres::EngineThread>();
  for (const Service service : roles) {
    const postgres::PostgresConfig config = settings.postgres.of(service);
    databases_.emplace(service, std::make_shared<postgres::PostgresDatabase>(config, *thread_, clock));
  }
  if (!roles.contains(Service::relay)) return;
  for (const postgres::PostgresConfig& config : settings.postgres.outboxes()) {
    const bool own = config.url == settings.postgres.of(Service::relay).url;
    outboxes_.push_back(own ? databases_.at(Service::relay)
                            : std::make_shared<postgres::PostgresDatabase>(config, *thread_, clock));
  }
}

Engines::~Engines() {
  if (redis_) asio::co_spawn(redis_thread_->executor(0), redis_->close(), asio::use_future).get();
}

std::unique_ptr<postgres::PostgresNews> Engines::news(Service service, std::string channel, std::function<void()> heard,
                                                      Random& random) {
  if (!settings_.postgres.used()) return nullptr;
  postgres::PostgresConfig config = settings_.postgres.of(service);
  if (!config.direct_url.empty()) config.url = config.direct_url;
  return std::make_unique<postgres::PostgresNews>(std::move(config), std::move(channel), std::move(heard), *thread_,
                                                  clock_, random);
}

std::vector<api::EngineProbe> Engines::probes() const {
  std::vector<api::EngineProbe> probes;
  std::set<const sql::Database*> seen;
  for (const auto& [service, database] : databases_) {
    if (!seen.insert(database.get()).second) continue;
    if (database == embedded_) {
      probes.push_back({"sqlite", [embedded = embedded_] { return embedded->reach(); }});
      continue;
    }
    const std::string name = "postgres/" + std::string(names(service).schema);
    probes.push_back({name, [database] { return ask_for_one(database); }});
  }
  if (redis_) {
    redis::Redis& redis = *redis_;
    probes.push_back({redis::engine_name, [&redis] { return ask_for_pong(redis); }, false});
  }
  return probes;
}

}  // namespace sluice::server
