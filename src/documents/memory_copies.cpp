#include "documents/memory_copies.h"

namespace sluice::documents {

size_t MemoryCopies::cost(const Entry& entry) {
  constexpr size_t overhead = 256;  // the records around the bytes; many tiny documents must not slip under the bound
  return entry.document->body.size() + entry.path.size() + overhead;
}

DocumentPtr MemoryCopies::find(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return found->second->document;
}

void MemoryCopies::put(const std::string& path, DocumentPtr document) {
  const std::lock_guard lock(mutex_);
  if (const auto found = by_path_.find(path); found != by_path_.end()) drop(found->second);
  order_.push_front({path, std::move(document)});
  by_path_.emplace(order_.front().path, order_.begin());
  bytes_ += cost(order_.front());
  while (bytes_ > max_bytes_) drop(std::prev(order_.end()));
}

void MemoryCopies::erase(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (const auto found = by_path_.find(path); found != by_path_.end()) drop(found->second);
}

size_t MemoryCopies::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void MemoryCopies::drop(Order::iterator entry) {
  bytes_ -= cost(*entry);
  by_path_.erase(entry->path);
  order_.erase(entry);
}

}  // namespace sluice::documents
