#include "tests/support/temporary_folder.h"

#include <cstdlib>

#include "base/check.h"

namespace sluice::test {
namespace {

std::string make_folder(const std::string& name) {
  std::string pattern = (std::filesystem::temp_directory_path() / (name + ".XXXXXX")).string();
  check_that(mkdtemp(pattern.data()) != nullptr, "cannot make the folder {}", pattern);
  return pattern;
}

}  // namespace

// The second try is for a server that was still writing while its guard killed it.
TemporaryFolder::TemporaryFolder(const std::string& name)
    : path_(make_folder(name)), guard_("rm -rf -- \"$1\" || { sleep 1; rm -rf -- \"$1\"; }", {path_.string()}) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace sluice::test
