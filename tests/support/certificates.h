// A certificate authority of the test's own, and certificates that it signed.
#pragma once

#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace sluice::test {

class Certificates {
 public:
  // Has "here", for localhost and 127.0.0.1, and "elsewhere", for example.com.
  Certificates();

  // "ca.pem", "here.pem", "here.key"
  std::string file(const std::string& name) const { return folder_ / name; }

 private:
  void make(const std::string& name, const std::string& names) const;

  TemporaryFolder folder_{"tls"};
};

}  // namespace sluice::test
