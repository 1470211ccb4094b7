// A real `sluice-lab web` on a free port.
//
//   LabWeb web;
//   web.url("news.test", "/articles/1");   // for clients that may visit loopback (http/client/address_guard.h)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace sluice::test {

class LabWeb {
 public:
  // Returns when it listens. Throws std::runtime_error with its output when it does not.
  explicit LabWeb(const std::vector<std::string>& flags = {});

  uint16_t port() const { return port_; }
  std::string url(const std::string& host, const std::string& target) const {
    return "http://" + host + ":" + std::to_string(port_) + target;
  }
  Process& process() { return process_; }

 private:
  Process process_;
  uint16_t port_ = 0;
};

}  // namespace sluice::test
