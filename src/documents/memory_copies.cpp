#include "documents/memory_copies.h"

#include "http/gzip.h"

namespace sluice::documents {
namespace {

constexpr size_t overhead = 256;  // the records around the bytes; many tiny documents must not slip under the bound
constexpr size_t worth_compressing = 1 << 10;

}  // namespace

size_t MemoryCopies::cost(const Entry& entry) {
  return entry.document->body.size() + (entry.gzip ? entry.gzip->size() : 0) + entry.path.size() + overhead;
}

DocumentPtr MemoryCopies::find(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return found->second->document;
}

void MemoryCopies::put(const std::string& path, const DocumentPtr& document) {
  const std::lock_guard lock(mutex_);
  if (const auto found = by_path_.find(path); found != by_path_.end()) {
    if (found->second->document->change > document->change) return;
    drop(found->second);
  }
  order_.push_front({path, document});
  by_path_.emplace(order_.front().path, order_.begin());
  bytes_ += cost(order_.front());
  make_room();
}

void MemoryCopies::erase(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (const auto found = by_path_.find(path); found != by_path_.end()) drop(found->second);
}

void MemoryCopies::erase_before(const std::string& path, int64_t change) {
  const std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  if (found != by_path_.end() && found->second->document->change < change) drop(found->second);
}

MemoryCopies::Entry* MemoryCopies::entry_of(const std::string& path, const DocumentPtr& document) {
  const auto found = by_path_.find(path);
  return found != by_path_.end() && found->second->document == document ? &*found->second : nullptr;
}

http::SharedBytes MemoryCopies::gzipped(const std::string& path, const DocumentPtr& document) {
  if (document->body.size() < worth_compressing || !http::is_compressible(document->content_type)) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    const Entry* const entry = entry_of(path, document);
    if (entry == nullptr || entry->gzip) return entry == nullptr ? nullptr : entry->gzip;
  }
  // Not under the lock. Two who come at once both do it; the first result is kept.
  const auto made = std::make_shared<const std::string>(http::Gzip().compress(document->body));
  const std::lock_guard lock(mutex_);
  Entry* const entry = entry_of(path, document);
  if (entry != nullptr && !entry->gzip && cost(*entry) + made->size() <= max_bytes_) {
    entry->gzip = made;
    bytes_ += made->size();
    make_room();
  }
  return made;
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

void MemoryCopies::make_room() {
  while (bytes_ > max_bytes_) drop(std::prev(order_.end()));
}

}  // namespace sluice::documents
