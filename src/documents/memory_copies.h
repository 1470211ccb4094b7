// Documents in the memory of this process: bounded in bytes, the least recently used goes first.
#pragma once

#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

#include "documents/document.h"

namespace sluice::documents {

// Safe to share between threads.
class MemoryCopies {
 public:
  explicit MemoryCopies(size_t max_bytes) : max_bytes_(max_bytes) {}

  DocumentPtr find(const std::string& path);
  // A document larger than the whole cache is not kept.
  void put(const std::string& path, DocumentPtr document);
  void erase(const std::string& path);

  size_t bytes() const;

 private:
  struct Entry {
    std::string path;
    DocumentPtr document;
  };
  using Order = std::list<Entry>;  // most recently used first
  static size_t cost(const Entry& entry);
  void drop(Order::iterator entry);

  size_t max_bytes_;
  mutable std::mutex mutex_;
  Order order_;
  std::unordered_map<std::string_view, Order::iterator> by_path_;
  size_t bytes_ = 0;
};

}  // namespace sluice::documents
