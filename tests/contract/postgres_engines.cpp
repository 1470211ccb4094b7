#include "tests/contract/postgres_engines.h"

#include <set>

#include <boost/asio/use_future.hpp>

#include "adapters/postgres/migrations.h"
#include "runtime/system_clock.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

class OpenPostgres : public OpenDatabase {
 public:
  explicit OpenPostgres(postgres::PostgresConfig config) : database_(std::move(config), thread_, clock_) {}
  sql::Database& database() override { return database_; }

 private:
  SystemClock clock_;
  postgres::EngineThread thread_;
  postgres::PostgresDatabase database_;
};

DatabaseEngine engine(std::string name, std::function<postgres::PostgresConfig()> config) {
  return {.name = std::move(name),
          .open =
              [config](asio::io_context&, size_t max_waiting) {
                postgres::PostgresConfig filled = config();
                filled.max_waiting = max_waiting;
                return std::make_unique<OpenPostgres>(std::move(filled));
              },
          .schema = "public"};
}

Task<> make_ready(postgres::PostgresSetup& setup) {
  co_await setup.create_services();
  co_await setup.migrate(postgres::migrations());
}

// Once per server and program.
PostgresServer& ready_postgres(int version) {
  static std::set<int> ready;
  PostgresServer& server = shared_postgres(version);
  if (!ready.insert(version).second) return server;
  SystemClock clock;
  asio::io_context io;
  postgres::EngineThread thread;
  postgres::PostgresSetup setup(service_setup(server), thread, clock);
  std::future<void> done = asio::co_spawn(io, make_ready(setup), asio::use_future);
  io.run();
  done.get();
  return server;
}

postgres::PostgresConfig service_config(const std::string& url, const std::string& service) {
  return {.url = url, .user = service, .password = service_password(service)};
}

postgres::PostgresConfig pgbouncer_config() {
  postgres::PostgresConfig config = postgres_config(shared_postgres());
  config.url = shared_pgbouncer().url();
  return config;
}

}  // namespace

PostgresServer& shared_postgres(int version) {
  static std::map<int, PostgresServer> servers;
  return servers.try_emplace(version, PostgresOptions{.version = version}).first->second;
}

PgBouncerServer& shared_pgbouncer() {
  PostgresServer& server = shared_postgres();  // started first, so that it ends last
  static PgBouncerServer pgbouncer(server);
  return pgbouncer;
}

postgres::PostgresConfig postgres_config(const PostgresServer& server) {
  return {.url = server.url(), .user = server.user(), .password = server.password()};
}

postgres::SetupConfig service_setup(const PostgresServer& server) {
  postgres::SetupConfig config{.admin = postgres_config(server), .services = {}};
  for (const std::string_view name : postgres::service_names) {
    config.services.push_back({std::string(name), service_password(name)});
  }
  return config;
}

std::string service_password(std::string_view service) {
  return fmt::format("it's {}'s \"secret\"", service);
}

std::vector<DatabaseEngine> postgres_engines() {
  std::vector<DatabaseEngine> engines;
  if (!PostgresServer::why_missing(15)) {
    engines.push_back(engine("postgres_15", [] { return postgres_config(shared_postgres(15)); }));
    if (!PgBouncerServer::why_missing()) engines.push_back(engine("pgbouncer", pgbouncer_config));
  }
  if (!PostgresServer::why_missing(18)) {
    engines.push_back(engine("postgres_18", [] { return postgres_config(shared_postgres(18)); }));
  }
  return engines;
}

std::vector<DatabaseEngine> postgres_service_engines(std::string service) {
  std::vector<DatabaseEngine> engines = postgres_engines();
  for (DatabaseEngine& one : engines) {
    const int version = one.name == "postgres_18" ? 18 : 15;
    const bool pooled = one.name == "pgbouncer";
    one = engine(one.name, [version, pooled, service] {
      const PostgresServer& server = ready_postgres(version);
      return service_config(pooled ? shared_pgbouncer().url() : server.url(), service);
    });
    one.schema = service;
  }
  return engines;
}

TEST(PostgresEngines, version_15_is_tested) {
  SLUICE_NEEDS(PostgresServer::why_missing(15));
}
TEST(PostgresEngines, pgbouncer_is_tested) {
  SLUICE_NEEDS(PgBouncerServer::why_missing());
}
TEST(PostgresEngines, version_18_is_tested) {
  SLUICE_NEEDS(PostgresServer::why_missing(18));
}

}  // namespace sluice::test
