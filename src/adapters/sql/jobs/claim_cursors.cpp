#include "adapters/sql/jobs/claim_cursors.h"

#include <algorithm>

namespace sluice::sql {
namespace {

constexpr Instant::duration longest_pause = 1s;
// Names of kinds come from callers; forgetting cursors costs nothing but a look from the beginning.
constexpr size_t most_kinds = 10'000;

}  // namespace

bool ClaimCursors::Cursor::may_go_back(Instant now) const {
  if (starved && pace.is_cheap()) return true;
  return pace.is_due(now, soon || starved ? Instant::duration{} : longest_pause);
}

bool ClaimCursors::may_go_back(const std::string& kind) {
  const Instant now = clock_.now();
  const std::lock_guard lock(mutex_);
  return cursors_[kind].may_go_back(now);
}

ClaimCursors::Start ClaimCursors::begin(const std::string& kind) {
  const Instant now = clock_.now();
  const std::lock_guard lock(mutex_);
  if (cursors_.size() >= most_kinds && !cursors_.contains(kind)) cursors_.clear();
  const auto [found, added] = cursors_.try_emplace(kind);
  Cursor& cursor = found->second;
  if (!added && !cursor.may_go_back(now)) return {cursor.at, false, now};
  cursor.pace.began(now);
  cursor.soon = false;
  return {.at = now};
}

void ClaimCursors::ended(const std::string& kind, const Start& start, std::optional<ClaimPosition> last, bool enough) {
  const Instant now = clock_.now();
  const std::lock_guard lock(mutex_);
  Cursor& cursor = cursors_[kind];
  if (start.from_the_beginning) cursor.pace.took(now - start.at);
  // Who went back goes on from there; where there was nothing, from where the last one ended.
  if (last) cursor.at = start.from_the_beginning ? *last : std::max(cursor.at, *last);
  cursor.starved = !enough;
}

void ClaimCursors::go_back_soon() {
  const std::lock_guard lock(mutex_);
  for (auto& [kind, cursor] : cursors_) cursor.soon = true;
}

}  // namespace sluice::sql
