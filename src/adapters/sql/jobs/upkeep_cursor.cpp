#include "adapters/sql/jobs/upkeep_cursor.h"

namespace sluice::sql {
namespace {

constexpr Instant::duration rewind_pause = 1s;

}  // namespace

UpkeepCursor::Start UpkeepCursor::begin(Asker asker) {
  const Instant now = clock_.now();
  const std::lock_guard lock(mutex_);
  const bool allowed = asker == Asker::background || pace_.is_cheap();
  if (!allowed || !pace_.is_due(now, rewind_pause)) return {places_, false, now};
  if (rewinding_since_) pace_.took(now - *rewinding_since_);
  rewinding_since_ = now;
  pace_.began(now);
  return {.at = now};
}

void UpkeepCursor::looked(const Start& start) {
  if (!start.from_the_beginning) return;
  const Instant now = clock_.now();
  const std::lock_guard lock(mutex_);
  pace_.took(now - start.at);
  rewinding_since_.reset();
}

void UpkeepCursor::ended(const Start& start, const UpkeepPlaces& reached) {
  const std::lock_guard lock(mutex_);
  if (start.from_the_beginning) {
    places_ = reached;
    return;
  }
  places_.locks = std::max(places_.locks, reached.locks);
  places_.scheduled = std::max(places_.scheduled, reached.scheduled);
  places_.keys = std::max(places_.keys, reached.keys);
}

}  // namespace sluice::sql
