#include "tests/contract/postgres_engines.h"

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
