// A real `sluice serve` on a free port.
//
//   SluiceServer sluice({.data = folder / "data"});
//   RawClient(sluice.port()).get("/readyz");
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace sluice::test {

struct SluiceOptions {
  std::filesystem::path data = {};      // --data
  std::string config = {};              // --config, where set
  std::vector<std::string> flags = {};  // further ones
  std::map<std::string, std::string> environment = {};
  bool terminal = false;  // as of ProcessOptions
};

class SluiceServer {
 public:
  // Returns when it listens. Throws std::runtime_error with its output when it does not.
  explicit SluiceServer(SluiceOptions options);

  uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  Process& process() { return *process_; }

  // SIGTERM, and its exit code.
  int stop();
  // SIGKILL.
  void kill() { process_->kill(); }

 private:
  std::optional<Process> process_;
  uint16_t port_ = 0;
};

// `sluice ARGUMENTS...`, run to its end.
struct CommandResult {
  int code = 0;
  std::string output;  // standard output and standard error
};
CommandResult run_sluice(std::vector<std::string> arguments, std::map<std::string, std::string> environment = {},
                         std::string input = {});

}  // namespace sluice::test
