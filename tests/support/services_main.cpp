// sluice-services: the tests' private servers by hand (./dev services up pg).
//
// Starts what is asked for, prints what belongs into sluice.toml and runs until Ctrl-C; then everything is gone.
#include <optional>
#include <string_view>

#include <fmt/core.h>
#include <signal.h>

#include "tests/support/pgbouncer_server.h"
#include "tests/support/postgres_server.h"

namespace {

constexpr const char* usage = R"(usage: sluice-services up pg|pg18|pgbouncer

  pg         a private PostgreSQL 15 on a free port
  pg18       the same with PostgreSQL 18
  pgbouncer  PostgreSQL 15 behind PgBouncer in transaction mode

Prints what to put into sluice.toml and runs until Ctrl-C. The data is gone afterwards.
example: sluice-services up pg
)";

// Passwords go into the environment: sluice.toml holds no secrets.
void print_settings(const sluice::test::PostgresServer& postgres, const std::string& url) {
  fmt::print(
      "# sluice.toml\n"
      "[postgres]\n"
      "url = \"{}\"\n"
      "\n"
      "# environment of `sluice migrate` (makes the schemas and their logins) and `sluice serve`\n"
      "export SLUICE_POSTGRES_ADMIN_USER=\"{}\"\n"
      "export SLUICE_POSTGRES_ADMIN_PASSWORD=\"{}\"\n"
      "export SLUICE_POSTGRES_PASSWORD=\"services\"\n"
      "\n"
      "# running; Ctrl-C ends it and removes the data\n",
      url, postgres.user(), postgres.password());
  std::fflush(stdout);
}

void wait_for_stop_signal(const sigset_t& stop) {
  int received = 0;
  sigwait(&stop, &received);
}

int up(std::string_view what) {
  // Blocked before any thread starts, so that all inherit it and sigwait alone sees them.
  sigset_t stop;
  sigemptyset(&stop);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stop, number);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);

  sluice::test::PostgresServer postgres({.version = what == "pg18" ? 18 : 15, .durable = true});
  std::optional<sluice::test::PgBouncerServer> pgbouncer;
  if (what == "pgbouncer") pgbouncer.emplace(postgres);
  print_settings(postgres, pgbouncer ? pgbouncer->url() : postgres.url());
  wait_for_stop_signal(stop);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count == 3 ? arguments[2] : "";
  if (count == 2 && std::string_view(arguments[1]) == "--help") {
    fmt::print("{}", usage);
    return 0;
  }
  if (count != 3 || std::string_view(arguments[1]) != "up" || (what != "pg" && what != "pg18" && what != "pgbouncer")) {
    fmt::print(stderr, "{}", usage);
    return 2;
  }
  try {
    return up(what);
  } catch (const std::exception& error) {
    fmt::print(stderr, "sluice-services: {}\n", error.what());
    return 1;
  }
}
