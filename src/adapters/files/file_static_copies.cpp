#include "adapters/files/file_static_copies.h"

#include <array>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::files {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }

 private:
  int number_;
};

Descriptor open_below(const std::filesystem::path& folder, std::string_view path) {
  Descriptor at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (at.open()) {
    const size_t slash = path.find('/');
    const std::string segment(path.substr(0, slash));
    const bool last = slash == std::string_view::npos;
    at = Descriptor(::openat(at.number(), segment.c_str(),
                             O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (last ? 0 : O_DIRECTORY)));
    if (last) break;
    path.remove_prefix(slash + 1);
  }
  return at;
}

std::optional<std::string> read_file(const std::filesystem::path& folder, const std::string& path, size_t max_bytes) {
  const Descriptor file = open_below(folder, path);
  struct stat info{};
  if (!file.open() || ::fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (static_cast<size_t>(info.st_size) > max_bytes) return std::nullopt;
  std::string text(static_cast<size_t>(info.st_size), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file.number(), text.data() + have, text.size() - have);
    if (got <= 0) return std::nullopt;  // it shrank under us, or the disk failed: not a copy to serve
    have += static_cast<size_t>(got);
  }
  return text;
}

std::string_view content_type_of(std::string_view path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> types{{{".xml", "application/xml"},
                                                                                {".json", "application/json"},
                                                                                {".html", "text/html"},
                                                                                {".txt", "text/plain"},
                                                                                {".css", "text/css"}}};
  for (const auto& [ending, type] : types) {
    if (path.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

}  // namespace

Task<documents::DocumentPtr> FileStaticCopies::find(documents::DocumentPath path) {
  if (folder_.empty()) co_return nullptr;
  auto work = [this, path] { return read_file(folder_, path.text(), max_bytes_); };
  std::optional<std::string> body = co_await threads_.run(std::move(work));
  if (!body) co_return nullptr;
  auto document = std::make_shared<documents::Document>();
  document->etag = documents::etag_of(*body);
  document->content_type = content_type_of(path.text());
  document->body = std::move(*body);
  document->fetched_at = clock_.wall();
  co_return document;
}

}  // namespace sluice::files
