#include "adapters/sqlite/owner_lock.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/errors.h"
#include "runtime/private_files.h"

namespace sluice::sqlite {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw EngineUnavailable("sqlite", why, EngineUnavailable::Retryable::no);
}

// " (process 4711)", or nothing where the owner's note cannot be read.
std::string owner_of(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t length = pread(descriptor, text.data(), text.size(), 0);
  const std::string_view pid(text.data(), length > 0 ? static_cast<size_t>(length) : 0);
  const size_t digits = pid.find_first_not_of("0123456789");
  if (digits == 0 || pid.empty()) return "";
  return fmt::format(" (process {})", pid.substr(0, digits));
}

}  // namespace

OwnerLock::OwnerLock(const std::filesystem::path& folder) {
  try {
    make_private_folder(folder);
  } catch (const std::system_error& error) {
    refuse(fmt::format("cannot create the data folder {}: {}", folder.string(), error.code().message()));
  }

  const std::filesystem::path file = folder / "owner.lock";
  descriptor_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor_ < 0) refuse(fmt::format("cannot open {}: {}", file.string(), std::strerror(errno)));
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const std::string owner = owner_of(descriptor_);
    close(descriptor_);
    refuse(fmt::format("the data folder {} is in use by another Sluice{}; stop it, or use another folder",
                       folder.string(), owner));
  }

  // The note is for people only, so a disk that has no room for it is no reason to stop.
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(descriptor_, 0) == 0) [[maybe_unused]]
    const ssize_t noted = pwrite(descriptor_, pid.data(), pid.size(), 0);
}

OwnerLock::~OwnerLock() {
  close(descriptor_);
}

}  // namespace sluice::sqlite
