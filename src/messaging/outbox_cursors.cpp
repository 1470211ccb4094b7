#include "messaging/outbox_cursors.h"

#include <limits>

namespace sluice::messaging {
namespace {

constexpr int64_t everything = std::numeric_limits<int64_t>::max();
constexpr Duration long_open = 1s;

}  // namespace

bool OutboxCursors::adopt(const std::vector<HeldBucket>& held) {
  bool changed = false;
  std::map<int32_t, Place> places;
  for (const HeldBucket& one : held) {
    const auto before = places_.find(one.bucket);
    const bool same = before != places_.end() && before->second.fence == one.fence;
    places[one.bucket] = same ? std::move(before->second) : Place{.fence = one.fence};
    if (!same) std::erase_if(waiting_, [&one](const auto& wait) { return wait.second.bucket == one.bucket; });
    changed |= !same;
  }
  places_ = std::move(places);
  return changed;
}

std::vector<BucketScan> OutboxCursors::plan(const std::set<int32_t>& in_work) const {
  std::vector<BucketScan> scans;
  scans.reserve(places_.size());
  const auto add = [&](auto from, auto to) {
    for (; from != to; ++from) {
      if (in_work.contains(from->first)) continue;
      scans.push_back({{from->first, from->second.fence}, from->second.after});
    }
  };
  const auto middle = places_.lower_bound(first_);
  add(middle, places_.end());
  add(places_.begin(), middle);
  return scans;
}

bool OutboxCursors::advance(const std::vector<BucketScan>& planned, const OutboxBatch& batch, BatchLimits limits,
                            Instant now) {
  const auto open = [&batch](int64_t writer) { return std::ranges::binary_search(batch.open_writers, writer); };
  if (!std::ranges::all_of(not_awaited_, open)) {
    rewind();
    return false;
  }
  struct Read {
    size_t rows = 0;
    int64_t highest = 0;
  };
  std::map<int32_t, Read> read;
  for (const OutboxRow& row : batch.rows) {
    Read& bucket = read[row.mark.held.bucket];
    ++bucket.rows;
    bucket.highest = row.mark.id;
  }
  const bool cut = batch.cut && !batch.rows.empty();
  for (const BucketScan& scan : planned) {
    const Read& bucket = read[scan.held.bucket];
    const bool last = cut && scan.held.bucket == batch.rows.back().mark.held.bucket;
    const int64_t read_to = last || bucket.rows >= limits.of_bucket ? bucket.highest : everything;
    const auto place = places_.find(scan.held.bucket);
    if (place != places_.end() && place->second.fence == scan.held.fence) {
      advance(place->second, bucket.highest, read_to, batch, now);
    }
    if (last) break;
  }
  if (cut) first_ = batch.rows.back().mark.held.bucket + 1;
  return true;
}

void OutboxCursors::advance(Place& place, int64_t highest, int64_t read_to, const OutboxBatch& batch, Instant now) {
  if (place.next && place.next->id <= read_to) {
    const auto end = std::ranges::lower_bound(batch.open_writers, place.next->reader);
    const std::ranges::subrange still_open(batch.open_writers.begin(), end);
    const bool known = std::ranges::includes(not_awaited_, still_open);
    if (known || now >= place.next->since + long_open) {
      place.after = place.next->id;
      not_awaited_.insert(still_open.begin(), still_open.end());
      place.next.reset();
    }
  }
  if (!place.next && highest > place.after) place.next = {highest, batch.reader, now};
}

void OutboxCursors::rewind() {
  for (auto& [bucket, place] : places_) place = {.fence = place.fence};
  not_awaited_.clear();
}

void OutboxCursors::hold_off(const OutboxRow& row, Instant until) {
  waiting_[row.aggregate] = {row.mark.held.bucket, until};
}

std::vector<std::string> OutboxCursors::held_off() const {
  std::vector<std::string> aggregates;
  for (const auto& [aggregate, wait] : waiting_) aggregates.push_back(aggregate);
  return aggregates;
}

void OutboxCursors::release(Instant now) {
  std::erase_if(waiting_, [&](const auto& wait) {
    if (wait.second.until > now) return false;
    const auto place = places_.find(wait.second.bucket);
    if (place != places_.end()) place->second = {.fence = place->second.fence};
    return true;
  });
}

Instant OutboxCursors::next_release() const {
  Instant next = Instant::max();
  for (const auto& [aggregate, wait] : waiting_) next = std::min(next, wait.until);
  return next;
}

}  // namespace sluice::messaging
