#include "adapters/sqlite/log/log_bounds.h"

#include <algorithm>

#include "adapters/sql/messaging/log_block.h"
#include "adapters/sqlite/log/log_reading.h"

namespace sluice::sqlite {
namespace {

using messaging::PartitionBounds;

constexpr sql::Statement find_new =
    "SELECT partition, min(id * 1024 + first), max(id * 1024 + first + count), max(id) FROM log_blocks "
    "WHERE topic = $1 AND id > $2 GROUP BY partition";
// For the partitions in $2, each with its earlier first offset; up to $3, the last block that was read.
constexpr sql::Statement find_first =
    "SELECT value ->> 1, (SELECT id * 1024 + first FROM log_blocks WHERE topic = $1 AND id >= (value ->> 2) / 1024 "
    "AND id <= $3 AND partition = value ->> 1 ORDER BY id LIMIT 1) FROM json_each($2)";

}  // namespace

Task<std::vector<PartitionBounds>> LogBounds::of(int64_t topic, int32_t partitions) {
  const sql::Rows next_block = co_await database_.read(sql::next_log_block);
  const int64_t next = next_block.one().integer(0) * sql::offsets_per_block;
  Found found;
  {
    const std::lock_guard lock(mutex_);
    found = found_[topic];
  }
  co_await add_new(topic, found);
  co_await drop_removed(topic, found);
  std::vector<PartitionBounds> all;
  for (int32_t i = 0; i < partitions; ++i) {
    const auto at = found.bounds.find(i);
    all.push_back(at == found.bounds.end() ? PartitionBounds{i, next, next}
                                           : PartitionBounds{i, at->second.first, at->second.end});
  }
  const std::lock_guard lock(mutex_);
  Found& kept = found_[topic];
  if (kept.seen_to <= found.seen_to) kept = std::move(found);
  co_return all;
}

Task<> LogBounds::add_new(int64_t topic, Found& found) {
  sql::Params params(topic, found.seen_to);
  const sql::Rows rows = co_await database_.read(find_new, std::move(params));
  for (const sql::Row& row : rows) {
    const auto [at, first_of_all] = found.bounds.try_emplace(static_cast<int32_t>(row.integer(0)));
    if (first_of_all) at->second.first = row.integer(1);
    at->second.end = row.integer(2);
    found.seen_to = std::max(found.seen_to, row.integer(3));
  }
}

Task<> LogBounds::drop_removed(int64_t topic, Found& found) {
  std::vector<LogPlace> places;
  for (const auto& [partition, bounds] : found.bounds) places.push_back({topic, partition, bounds.first});
  if (places.empty()) co_return;
  sql::Params params(topic, to_json(places), found.seen_to);
  const sql::Rows rows = co_await database_.read(find_first, std::move(params));
  for (const sql::Row& row : rows) {
    const auto partition = static_cast<int32_t>(row.integer(0));
    if (row.is_null(1)) {
      found.bounds.erase(partition);
    } else {
      found.bounds[partition].first = row.integer(1);
    }
  }
}

}  // namespace sluice::sqlite
