// A private Redis on a free port, empty.
//
//   RedisServer redis;
//   connect(redis.url());
//   redis.kill();
//   redis.start();
//
// It listens on 127.0.0.1 only, and dies with this object, also when the test crashes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {

struct RedisOptions {
  // On: every write is on disk before it is answered. Off: a restart finds nothing.
  bool durable = false;
  // More settings, as redis.conf has them: "maxmemory 1mb".
  std::vector<std::string> settings = {};
  // Arguments of redis-cli to log in and to see everything, if the settings need them: "--pass", "secret".
  std::vector<std::string> cli_arguments = {};
};

class RedisServer {
 public:
  // Returns when it answers. Throws std::runtime_error with its log when it does not.
  explicit RedisServer(RedisOptions options = {});

  // The reason why it is not available; nothing if it is. Tests report it and skip (SLUICE_NEEDS).
  static std::optional<std::string> why_missing();

  uint16_t port() const { return port_; }
  // "redis://127.0.0.1:PORT"
  std::string url() const;

  // After stop or kill: the same port, and the data if it is durable.
  void start();
  // The same without any data.
  void start_empty();
  // Shuts down in order.
  void stop();
  // SIGKILL.
  void kill() { process_->kill(); }
  // SIGSTOP and SIGCONT.
  void pause();
  void resume();
  bool paused() const { return paused_; }
  bool running() { return process_->running(); }

  // Forgets every key.
  void wipe() { cli({"FLUSHALL"}); }
  // The output of redis-cli for a command. Throws std::runtime_error if the server is not reachable or refuses it.
  std::string cli(std::vector<std::string> command) const;

  std::string log() const { return process_->output(); }

 private:
  RedisOptions options_;
  uint16_t port_;
  TemporaryFolder folder_;
  std::optional<Process> process_;
  bool paused_ = false;
};

}  // namespace sluice::test
