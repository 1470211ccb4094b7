// A private PgBouncer in transaction mode in front of a PostgresServer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <signal.h>

#include "tests/support/postgres_server.h"

namespace sluice::test {

class PgBouncerServer {
 public:
  // Every role of `postgres`, which must outlive it, can log in through it. Returns when it answers.
  explicit PgBouncerServer(const PostgresServer& postgres);

  static std::optional<std::string> why_missing();

  uint16_t port() const { return port_; }
  std::string url() const;

  void start();
  void stop();
  void kill() { process_->kill(); }
  void pause() { process_->signal_tree(SIGSTOP); }
  void resume() { process_->signal_tree(SIGCONT); }

  std::string log() const { return process_->output(); }

 private:
  const PostgresServer& postgres_;
  uint16_t port_;
  TemporaryFolder folder_;
  std::optional<Process> process_;
};

}  // namespace sluice::test
