#include <fmt/format.h>

#include "adapters/postgres/migrations.h"
#include "adapters/postgres/postgres_setup.h"
#include "runtime/system_clock.h"
#include "server/blocking.h"
#include "server/commands.h"
#include "server/engines.h"
#include "server/log_desk.h"

namespace sluice::server {
namespace {

// Services of one database are made ready together, with its outbox; each may have a database of its own.
Task<> migrate_database(const Settings& settings, std::vector<Service> members, postgres::EngineThread& thread,
                        Clock& clock) {
  postgres::SetupConfig config;
  config.admin = settings.postgres.admin_of(members.front());
  config.statement_timeout = settings.postgres.common.statement_timeout;
  config.lock_timeout = settings.postgres.common.lock_timeout;
  std::vector<sql::MigrationSet> sets;
  for (const Service service : members) {
    const postgres::PostgresConfig login = settings.postgres.of(service);
    config.services.push_back({login.user, login.password});
    for (const sql::MigrationSet& set : postgres::migrations()) {
      if (set.schema == names(service).schema) sets.push_back(set);
    }
  }
  postgres::PostgresSetup setup(std::move(config), thread, clock);
  co_await setup.create_services();
  const auto applied = co_await setup.migrate(std::move(sets));
  for (const auto& one : applied) {
    fmt::print("{}: {}\n", one.schema,
               one.numbers.empty() ? "up to date" : fmt::format("applied {}", fmt::join(one.numbers, ", ")));
  }
}

Task<> declare_and_close(MessageParts& parts) {
  std::exception_ptr error;
  try {
    co_await parts.declare_topics();
  } catch (...) {
    error = std::current_exception();
  }
  co_await parts.close();
  if (error) std::rethrow_exception(error);
}

// After the databases, since the embedded log is in one.
void make_topics(const Settings& settings) {
  const auto engine = chosen_log_engine(settings);
  if (!engine) return;
  LogDesk desk(settings, *engine);
  run_blocking(desk.here, declare_and_close(desk.parts));
  fmt::print("{} topics: up to date\n", settings.messaging.declared().size());
}

int migrate(const CommonFlags& flags) {
  const auto loaded = settings_or_complain(flags);
  if (!loaded) return asked_wrongly;
  const Settings& settings = loaded->settings;
  SystemClock clock;
  if (!settings.postgres.used()) {
    std::string unknown;
    {
      const Engines opened(settings, *parse_roles("", unknown), clock);
    }  // the embedded file migrates itself
    make_topics(settings);
    fmt::print("{}: up to date\n", settings.storage.data);
    return 0;
  }
  std::map<std::string, std::vector<Service>> by_url;
  for (const ServiceNames& one : services) by_url[settings.postgres.of(one.service).url].push_back(one.service);
  asio::io_context here;
  postgres::EngineThread thread;
  for (auto& [url, members] : by_url) {
    if (std::ranges::find(members, Service::relay) == members.end()) members.push_back(Service::relay);
    run_blocking(here, migrate_database(settings, members, thread, clock));
  }
  make_topics(settings);
  return 0;
}

}  // namespace

Command migrate_command() {
  const auto flags = std::make_shared<CommonFlags>();
  return {.name = "migrate",
          .help = "Bring the database up to date; on PostgreSQL, also create schemas and logins",
          .footer = "Example: SLUICE_POSTGRES_ADMIN_PASSWORD=... sluice migrate --config sluice.toml",
          .options = with_common(*flags),
          .run = [flags] { return migrate(*flags); }};
}

}  // namespace sluice::server
