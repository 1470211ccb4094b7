// A folder that is gone afterwards, also when the test crashes.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/crash_guard.h"

namespace sluice::test {

class TemporaryFolder {
 public:
  // Under $TMPDIR, or /tmp; only the owner may enter.
  explicit TemporaryFolder(const std::string& name = "sluice");
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
  CrashGuard guard_;
};

}  // namespace sluice::test
