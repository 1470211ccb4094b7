#include "adapters/postgres/postgres_setup.h"

#include "adapters/postgres/postgres_database.h"
#include "adapters/postgres/scram_secret.h"
#include "base/check.h"

namespace sluice::postgres {
namespace {

using sql::Params;
using sql::Rows;
using sql::Statement;
using sql::Tx;
using sql::TxTask;

// A migration may be slow; no caller waits for it.
constexpr Duration migration_timeout = 1h;

// One at a time; the number only has to be the same in every process.
constexpr Statement lock_setup{"SELECT pg_advisory_xact_lock(7282819400)"};

// Names and passwords cannot be parameters of these statements, so the server quotes them: each SELECT returns the
// statement to run. $1 is the service in all of them.
constexpr Statement close_database{"SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database())"};
constexpr Statement close_public{"SELECT 'REVOKE ALL ON SCHEMA public FROM PUBLIC'"};
constexpr Statement find_role{"SELECT 1 FROM pg_roles WHERE rolname = $1"};
constexpr Statement create_role{"SELECT format('CREATE ROLE %I', $1::text)"};
constexpr Statement set_password{"SELECT format('ALTER ROLE %I LOGIN PASSWORD %L', $1::text, $2::text)"};
constexpr Statement let_in{"SELECT format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), $1::text)"};
constexpr Statement set_setting{
    "SELECT format('ALTER ROLE %I IN DATABASE %I SET %I = %L', $1::text, current_database(), $2::text, $3::text)"};
constexpr Statement create_schema{
    "SELECT format('CREATE SCHEMA IF NOT EXISTS %I AUTHORIZATION %I', $1::text, $1::text)"};
constexpr Statement close_schema{"SELECT format('REVOKE ALL ON SCHEMA %I FROM PUBLIC', $1::text)"};
// An administrator that is not a superuser can create objects for a role only as its member.
constexpr Statement am_superuser{"SELECT rolsuper FROM pg_roles WHERE rolname = current_user"};
constexpr Statement join_role{"SELECT format('GRANT %I TO CURRENT_USER', $1::text)"};
// The rights of a service in schema common.
constexpr Statement let_see_common{"SELECT format('GRANT USAGE ON SCHEMA common TO %I', $1::text)"};
constexpr Statement let_append{"SELECT format('GRANT EXECUTE ON FUNCTION common.append_outbox TO %I', $1::text)"};

TxTask<> run_made(Tx& tx, Statement maker, Params params) {
  const Rows rows = co_await tx.execute(maker, std::move(params));
  const std::string made = rows.one().text(0);
  co_await tx.execute(Statement(std::string_view(made)));
}

TxTask<> ensure_role(Tx& tx, std::string name, std::string secret) {
  Params key(name);
  const Rows found = co_await tx.execute(find_role, key);
  if (found.empty()) {
    co_await run_made(tx, create_role, key);
    const Rows superuser = co_await tx.execute(am_superuser);
    if (!superuser.one().boolean(0)) co_await run_made(tx, join_role, key);
  }
  Params password(name, secret);
  co_await run_made(tx, set_password, std::move(password));
}

// Before the migrations, which grant it its rights.
TxTask<> ensure_reader(Tx& tx, std::string name) {
  Params key(name);
  const Rows found = co_await tx.execute(find_role, key);
  if (found.empty()) co_await run_made(tx, create_role, key);
  co_await run_made(tx, let_in, key);
}

struct Setting {
  std::string name;
  std::string value;
};

std::vector<Setting> role_settings(const SetupConfig& config, const std::string& service) {
  const auto milliseconds = [](Duration duration) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
  };
  std::vector<Setting> settings = {{"search_path", service},
                                   {"statement_timeout", milliseconds(config.statement_timeout)},
                                   {"lock_timeout", milliseconds(config.lock_timeout)},
                                   // Bodies of transactions wait only for the database, so an idle one is dead or
                                   // paused. Callers that need its locks outlast it: they wait twice as long.
                                   {"idle_in_transaction_session_timeout", milliseconds(config.lock_timeout / 2)}};
  // Statistics are often wrong: a queue or an outbox is empty when it is analyzed and full when it matters. Statements
  // have an index in the right order; to read and sort everything instead is never right.
  for (const char* plan :
       {"enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_hashjoin", "enable_mergejoin", "jit"}) {
    settings.push_back({plan, "off"});
  }
  return settings;
}

TxTask<> ensure_service(Tx& tx, std::string name, std::string secret, std::vector<Setting> settings) {
  co_await tx.execute(lock_setup);
  co_await run_made(tx, close_database, Params());
  co_await run_made(tx, close_public, Params());
  co_await ensure_role(tx, name, secret);
  Params key(name);
  co_await run_made(tx, let_in, key);
  for (const Setting& setting : settings) {
    Params params(name, setting.name, setting.value);
    co_await run_made(tx, set_setting, std::move(params));
  }
  co_await run_made(tx, create_schema, key);
  co_await run_made(tx, close_schema, key);
  if (name == "document_service") co_await ensure_reader(tx, std::string(document_reader));
}

TxTask<> let_use_outbox(Tx& tx, std::vector<std::string> services) {
  co_await tx.execute(lock_setup);
  for (const std::string& service : services) {
    Params key(service);
    co_await run_made(tx, let_see_common, key);
    co_await run_made(tx, let_append, key);
  }
}

}  // namespace

PostgresSetup::PostgresSetup(SetupConfig config, EngineThread& thread, Clock& clock)
    : config_(std::move(config)), thread_(thread), clock_(clock) {}

Task<> PostgresSetup::create_services() {
  PostgresDatabase admin(config_.admin, thread_, clock_);
  for (const ServiceLogin& service : config_.services) {
    const std::string secret = scram_secret(service.name, service.password);
    const std::vector<Setting> settings = role_settings(config_, service.name);
    co_await admin.transact(ensure_service, service.name, secret, settings);
  }
}

Task<std::vector<AppliedMigrations>> PostgresSetup::migrate(std::vector<sql::MigrationSet> sets) {
  std::vector<AppliedMigrations> applied;
  for (const sql::MigrationSet& set : sets) {
    const auto login = std::ranges::find(config_.services, set.schema, &ServiceLogin::name);
    check_that(login != config_.services.end(), "migrations for the schema {}, which belongs to no service",
               set.schema);
    PostgresConfig as_service = config_.admin;
    as_service.user = login->name;
    as_service.password = login->password;
    as_service.service = login->name;
    as_service.statement_timeout = migration_timeout;
    PostgresDatabase database(as_service, thread_, clock_);
    std::vector<int> numbers = co_await sql::migrate(database, set);
    applied.push_back({login->name, std::move(numbers)});
    if (set.schema == common_service) co_await database.transact(let_use_outbox, other_services());
  }
  co_return applied;
}

std::vector<std::string> PostgresSetup::other_services() const {
  std::vector<std::string> others;
  for (const ServiceLogin& service : config_.services) {
    if (service.name != common_service) others.push_back(service.name);
  }
  return others;
}

}  // namespace sluice::postgres
