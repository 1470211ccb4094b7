// Documents in the memory of this process: bounded in bytes, the least recently used goes first.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "documents/document.h"
#include "http/message.h"

namespace sluice::documents {

// Safe to share between threads.
class MemoryCopies {
 public:
  explicit MemoryCopies(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Counts as asked for.
  std::optional<Served> find(const std::string& path);
  bool contains(const std::string& path) const;
  // The paths asked for since the last call.
  std::vector<std::string> take_asked();
  // A copy made by a later change stays. A document larger than the whole cache is not kept.
  void put(const std::string& path, const DocumentPtr& document);
  void erase(const std::string& path);
  // Erases the copy unless it was made by `change` or a later one.
  void erase_before(const std::string& path, int64_t change);

  // A form of the document as it is sent (compressed, as JSON), kept beside the copy under a name; null where it is not
  // kept, or `document` is not the copy that is.
  http::SharedBytes find_form(const std::string& path, const DocumentPtr& document, const std::string& form) const;
  // Keeps one, within the same bound; unless `document` is not the copy that is kept, or would have to go for it.
  void keep_form(const std::string& path, const DocumentPtr& document, std::string form, http::SharedBytes bytes);

  size_t bytes() const;

 private:
  struct Entry {
    std::string path;
    DocumentPtr document;
    std::map<std::string, http::SharedBytes> forms{};
    bool asked = false;
  };
  using Order = std::list<Entry>;  // most recently used first
  static size_t cost(const Entry& entry);
  void drop(Order::iterator entry);
  void make_room();

  size_t max_bytes_;
  mutable std::mutex mutex_;
  Order order_;
  std::unordered_map<std::string_view, Order::iterator> by_path_;
  size_t bytes_ = 0;
};

}  // namespace sluice::documents
