#include "documents/memory_copies.h"

namespace sluice::documents {
namespace {

constexpr size_t overhead = 256;  // the records around the bytes; many tiny documents must not slip under the bound

size_t form_cost(const std::string& name, const std::string& bytes) {
  return bytes.size() + name.size() + overhead;
}

}  // namespace

size_t MemoryCopies::cost(const Entry& entry) {
  size_t forms = 0;
  for (const auto& [name, bytes] : entry.forms) forms += form_cost(name, *bytes);
  return entry.document->body.size() + forms + entry.path.size() + overhead;
}

std::optional<Served> MemoryCopies::find(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return std::nullopt;
  order_.splice(order_.begin(), order_, found->second);
  found->second->asked = true;
  return Served{.document = found->second->document, .source = Source::memory};
}

bool MemoryCopies::contains(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return by_path_.contains(path);
}

std::vector<std::string> MemoryCopies::take_asked() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> paths;
  for (Entry& entry : order_) {
    if (std::exchange(entry.asked, false)) paths.push_back(entry.path);
  }
  return paths;
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

http::SharedBytes MemoryCopies::find_form(const std::string& path, const DocumentPtr& document,
                                          const std::string& form) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  if (found == by_path_.end() || found->second->document != document) return nullptr;
  const auto kept = found->second->forms.find(form);
  return kept == found->second->forms.end() ? nullptr : kept->second;
}

void MemoryCopies::keep_form(const std::string& path, const DocumentPtr& document, std::string form,
                             http::SharedBytes bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return;
  Entry& entry = *found->second;
  const size_t more = form_cost(form, *bytes);
  if (entry.document != document || entry.forms.contains(form) || cost(entry) + more > max_bytes_) return;
  bytes_ += more;
  entry.forms.emplace(std::move(form), std::move(bytes));
  order_.splice(order_.begin(), order_, found->second);
  make_room();
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
