#include "runtime/private_files.h"

#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

class Descriptor {
 public:
  Descriptor(int number, const std::string& what) : number_(number) {
    if (number_ < 0) fail(errno, what);
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

void sync(const Descriptor& descriptor, const std::string& name) {
  if (::fsync(descriptor.number()) != 0) fail(errno, "cannot sync " + name);
}

void write_all(const Descriptor& descriptor, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor.number(), text.data(), text.size());
    if (written < 0 && errno != EINTR) fail(errno, "cannot write " + name);
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

void make_private_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_filename() ? path : path.parent_path();  // "data/" is "data"
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) == 0) return;
  const int error = errno;
  if (error != EEXIST || !std::filesystem::is_directory(folder)) fail(error, "cannot create " + folder.string());
}

void make_private_file(const std::filesystem::path& file) {
  const Descriptor made(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), "cannot open " + file.string());
}

void close_to_others(const std::filesystem::path& file) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0 || found.st_uid != ::geteuid()) return;
  if ((found.st_mode & 077) == 0) return;
  if (::chmod(file.c_str(), found.st_mode & 0700) != 0) fail(errno, "cannot set the mode of " + file.string());
}

bool create_durably(const std::filesystem::path& file, std::string_view text) {
  std::string draft = file.string() + ".XXXXXX";
  {
    const Descriptor made(::mkostemp(draft.data(), O_CLOEXEC), "cannot create a file beside " + file.string());
    try {
      write_all(made, text, draft);
      sync(made, draft);
    } catch (...) {
      ::unlink(draft.c_str());
      throw;
    }
  }
  // Unlike a rename, a link never replaces a file that another process has just created.
  const int error = ::link(draft.c_str(), file.c_str()) == 0 ? 0 : errno;
  ::unlink(draft.c_str());
  if (error != 0 && error != EEXIST) fail(error, "cannot create " + file.string());
  sync_folder(file.has_parent_path() ? file.parent_path() : ".");
  return error == 0;
}

void sync_folder(const std::filesystem::path& folder) {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                          "cannot open the folder " + folder.string());
  sync(opened, folder.string());
}

}  // namespace sluice
