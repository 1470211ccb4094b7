#include "documents/origin_copies.h"

#include "documents/content_check.h"

namespace sluice::documents {
namespace {

// Limit on noted documents, found in the database within an hour; further ones are noted at their next request.
constexpr size_t most_asked = 100'000;
constexpr size_t most_at_once = 500;

}  // namespace

OriginCopies::OriginCopies(const OriginConfig& config, const OriginParts& parts)
    : config_(config), parts_(parts), memory_(static_cast<size_t>(config.memory_limit.bytes)) {}

bool OriginCopies::fresh(const Document& document) const {
  return document.fetched_at + config_.fresh_for > parts_.clock.wall();
}

bool OriginCopies::usable(const Document& document) const {
  return !find_fault(config_.require, document.content_type, document.body);
}

std::optional<Served> OriginCopies::fresh_in_memory(const DocumentPath& path) {
  std::optional<Served> copy = memory_.find(path.text());
  if (copy && !fresh(*copy->document)) copy.reset();
  return copy;
}

Task<std::optional<Served>> OriginCopies::nearest(DocumentPath path, bool must_be_fresh) {
  std::optional<Served> in_memory = memory_.find(path.text());
  if (in_memory && (fresh(*in_memory->document) || !must_be_fresh)) co_return in_memory;
  const int64_t seen_change = known_change_;
  DocumentPtr copy = co_await static_copy(path);
  if (copy) {
    keep(path, copy, seen_change);
    co_return Served{std::move(copy), Source::static_file};
  }
  if (!matches_glob(config_.allow, path.text())) co_return std::nullopt;
  const bool outranked_before = outranks_static_.contains(path.text());
  copy = co_await stored(path);
  if (!copy && outranked_before) {
    copy = co_await static_copy(path);
    if (copy) co_return Served{std::move(copy), Source::static_file};
  }
  if (!copy || (must_be_fresh && !fresh(*copy))) co_return std::nullopt;
  co_return Served{std::move(copy), Source::database};
}

Task<std::optional<Served>> OriginCopies::last(DocumentPath path) {
  std::optional<Served> near = co_await at_hand(path);
  if (near) co_return near;
  DocumentPtr copy = co_await stored(path);
  if (copy) co_return Served{std::move(copy), Source::stale};
  co_return co_await outranked(path);
}

Task<std::optional<Served>> OriginCopies::last_without_database(DocumentPath path) {
  std::optional<Served> near = co_await at_hand(path);
  if (near) co_return near;
  co_return co_await outranked(path);
}

Task<std::optional<Served>> OriginCopies::at_hand(DocumentPath path) {
  DocumentPtr copy = co_await static_copy(path);
  if (copy) co_return Served{std::move(copy), Source::static_file};
  std::optional<Served> in_memory = memory_.find(path.text());
  if (in_memory) in_memory->source = Source::stale;
  co_return in_memory;
}

Task<std::optional<Served>> OriginCopies::outranked(DocumentPath path) {
  DocumentPtr copy = co_await shipped(path);
  if (copy) co_return Served{std::move(copy), Source::static_file};
  co_return std::nullopt;
}

Task<DocumentPtr> OriginCopies::static_copy(DocumentPath path) {
  if (outranks_static_.contains(path.text())) co_return nullptr;
  DocumentPtr copy = co_await shipped(path);
  // It may have been outranked while it was read.
  if (outranks_static_.contains(path.text())) co_return nullptr;
  co_return copy;
}

Task<DocumentPtr> OriginCopies::shipped(DocumentPath path) {
  DocumentPtr copy = co_await parts_.static_copies.find(std::move(path));
  if (!copy || !usable(*copy)) co_return nullptr;
  co_return copy;
}

Task<DocumentPtr> OriginCopies::stored(DocumentPath path) {
  const int64_t seen_change = known_change_;
  DocumentPtr copy = co_await parts_.store.find(key(path));
  // The row that outranked the static file may have been forgotten.
  if (!copy && seen_change == known_change_) outranks_static_.erase(path.text());
  if (!copy || !usable(*copy)) co_return nullptr;
  if (asked_.size() < most_asked) asked_.insert(path.text());
  keep(path, copy, seen_change);
  co_return copy;
}

// Not where a change was learned since the copy was asked for: it may be older than that change.
void OriginCopies::keep(const DocumentPath& path, const DocumentPtr& document, int64_t seen_change) {
  if (seen_change == known_change_ || document->change >= known_change_) memory_.put(path.text(), document);
}

Task<bool> OriginCopies::knows(DocumentPath path) {
  if (memory_.contains(path.text())) co_return true;
  const bool stored = co_await parts_.store.knows(key(path));
  if (stored) co_return true;
  const DocumentPtr shipped = co_await parts_.static_copies.find(std::move(path));
  co_return shipped != nullptr;
}

Task<> OriginCopies::note_asked() {
  for (std::string& path : memory_.take_asked()) asked_.insert(std::move(path));
  while (!asked_.empty()) {
    const auto end = std::next(asked_.begin(), static_cast<ptrdiff_t>(std::min(asked_.size(), most_at_once)));
    const std::vector<std::string> paths(asked_.begin(), end);
    co_await parts_.store.note_asked(config_.name, paths);
    for (const std::string& path : paths) asked_.erase(path);
  }
}

void OriginCopies::remember(const DocumentPath& path, const DocumentPtr& document) {
  // A later change is known, and maybe of this document: this one was learned of before it.
  if (document->change < known_change_) return;
  learn({path.text(), document->change, document->forced});
  memory_.put(path.text(), document);
}

Task<bool> OriginCopies::purge(DocumentPath path) {
  const bool purged = co_await parts_.store.purge(key(path));
  memory_.erase(path.text());
  outranks_static_.erase(path.text());
  co_return purged;
}

Task<> OriginCopies::learn_changes() {
  const int64_t last = co_await parts_.store.last_change(config_.name);
  if (last == known_change_) co_return;
  do {
    const std::vector<Change> changes = co_await parts_.store.changes_since(config_.name, known_change_);
    for (const Change& change : changes) learn(change);
    // Some numbers no longer have a row, and some rows were added after the number was read.
    known_change_ = changes.empty() ? last : changes.back().number;
  } while (known_change_ < last);
}

void OriginCopies::learn(const Change& change) {
  memory_.erase_before(change.path, change.number);
  if (change.forced) {
    outranks_static_.insert(change.path);
  } else {
    outranks_static_.erase(change.path);
  }
}

}  // namespace sluice::documents
