#include "tests/support/cache_folder.h"

#include <cstdlib>

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/check.h"

namespace sluice::test {
namespace fs = std::filesystem;
namespace {

fs::path choose_cache_folder() {
  if (const char* chosen = std::getenv("SLUICE_CACHE")) return chosen;
  if (geteuid() == 0) return "/var/cache/sluice";
  if (const char* cache = std::getenv("XDG_CACHE_HOME")) return fs::path(cache) / "sluice";
  if (const char* home = std::getenv("HOME")) return fs::path(home) / ".cache/sluice";
  return fs::temp_directory_path() / fmt::format("sluice-cache-{}", geteuid());
}

// Held by at most one process; let go by the kernel when it dies.
class FileLock {
 public:
  explicit FileLock(const fs::path& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    check_that(file_ >= 0 && flock(file_, LOCK_EX) == 0, "cannot lock {}", path.string());
  }
  ~FileLock() { close(file_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_;
};

}  // namespace

fs::path cache_folder() {
  const fs::path folder = choose_cache_folder();
  fs::create_directories(folder);
  return folder;
}

fs::path cached(const std::string& name, const std::function<void(const fs::path&)>& make) {
  const fs::path ready = cache_folder() / name;
  if (fs::exists(ready)) return ready;
  const FileLock lock(cache_folder() / (name + ".lock"));
  if (fs::exists(ready)) return ready;
  const fs::path unfinished = cache_folder() / (name + ".unfinished");
  fs::remove_all(unfinished);
  fs::create_directories(unfinished);
  make(unfinished);
  fs::rename(unfinished, ready);
  return ready;
}

std::string unprivileged_user() {
  if (geteuid() != 0) return "";
  return getpwnam("postgres") != nullptr ? "postgres" : "nobody";
}

void give_to_unprivileged_user(const fs::path& path) {
  if (geteuid() != 0) return;
  const passwd* user = getpwnam(unprivileged_user().c_str());
  check_that(user != nullptr && chown(path.c_str(), user->pw_uid, user->pw_gid) == 0, "cannot give {} away",
             path.string());
}

}  // namespace sluice::test
