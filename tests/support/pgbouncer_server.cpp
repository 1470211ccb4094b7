#include "tests/support/pgbouncer_server.h"

#include <fstream>

#include <signal.h>

#include "tests/support/cache_folder.h"
#include "tests/support/connection_check.h"
#include "tests/support/free_port.h"

namespace sluice::test {
namespace {

constexpr const char* program = "/usr/sbin/pgbouncer";

// Passwords are looked up in PostgreSQL, so that roles made by a test can log in at once.
constexpr const char* settings = R"([databases]
* = host=127.0.0.1 port={server_port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
pool_mode = transaction
default_pool_size = 10
max_client_conn = 500
auth_type = scram-sha-256
auth_file = {folder}/users
auth_user = {user}
auth_query = SELECT usename, passwd FROM pg_shadow WHERE usename = $1
server_login_retry = 0.1
)";

}  // namespace

std::optional<std::string> PgBouncerServer::why_missing() {
  if (std::filesystem::exists(program)) return std::nullopt;
  return "PgBouncer is not installed (apt install pgbouncer)";
}

PgBouncerServer::PgBouncerServer(const PostgresServer& postgres)
    : postgres_(postgres), port_(free_port()), folder_("sluice-pgbouncer") {
  std::ofstream(folder_ / "pgbouncer.ini")
      << fmt::format(fmt::runtime(settings), fmt::arg("server_port", postgres.port()), fmt::arg("port", port_),
                     fmt::arg("folder", folder_.path().string()), fmt::arg("user", postgres.user()));
  std::ofstream(folder_ / "users") << fmt::format("\"{}\" \"{}\"\n", postgres.user(), postgres.password());
  give_to_unprivileged_user(folder_.path());
  start();
}

std::string PgBouncerServer::url() const {
  return fmt::format("postgresql://127.0.0.1:{}/sluice", port_);
}

void PgBouncerServer::start() {
  process_.emplace(ProcessOptions{.arguments = {program, folder_ / "pgbouncer.ini"}, .user = unprivileged_user()});
  process_->wait_for_line("process up");
  check_connects(url(), postgres_.user(), postgres_.password());
}

void PgBouncerServer::stop() {
  process_->signal(SIGTERM);
  process_->wait();
}

}  // namespace sluice::test
