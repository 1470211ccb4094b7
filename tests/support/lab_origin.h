// A real `sluice-lab origin` on a free port.
//
//   LabOrigin origin({"--latency", "500ms"});
//   RawClient(origin.port()).get("/stats");
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace sluice::test {

class LabOrigin {
 public:
  // Returns when it listens. Throws std::runtime_error with its output when it does not.
  explicit LabOrigin(const std::vector<std::string>& flags = {});

  uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  Process& process() { return process_; }

  // An [[documents.origin]] named scourt in front of it, with the checks for layouts; `more` has further keys.
  std::string toml(const std::string& more = "") const;

 private:
  Process process_;
  uint16_t port_ = 0;
};

}  // namespace sluice::test
