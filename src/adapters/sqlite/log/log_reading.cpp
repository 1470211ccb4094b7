#include "adapters/sqlite/log/log_reading.h"

#include <fmt/ranges.h>

namespace sluice::sqlite {
namespace {

constexpr sql::Statement find_last =
    "SELECT coalesce((SELECT max(id) FROM log_blocks WHERE topic = value), 0) FROM json_each($1) ORDER BY key";
// How far they fit is found out first, from their sizes alone.
constexpr sql::Statement read_some =
    "WITH next AS (SELECT id, length(records) AS bytes FROM log_blocks "
    "  WHERE topic = $1 AND id BETWEEN $2 AND $3 AND partition IN (SELECT value FROM json_each($4)) "
    "  ORDER BY id LIMIT $5), "
    "sums AS (SELECT id, sum(bytes) OVER (ORDER BY id) - bytes AS before FROM next) "
    "SELECT id, first, published_at, records, partition FROM log_blocks "
    "WHERE topic = $1 AND id BETWEEN $2 AND (SELECT max(id) FROM sums WHERE before < $6) "
    "  AND partition IN (SELECT value FROM json_each($4)) "
    "ORDER BY id";

constexpr size_t blocks_per_read = 32;

}  // namespace

std::string to_json(const std::vector<LogPlace>& places) {
  std::vector<std::string> triples;
  triples.reserve(places.size());
  for (const LogPlace& place : places) {
    triples.push_back(fmt::format("[{},{},{}]", place.topic, place.partition, place.from));
  }
  return fmt::format("[{}]", fmt::join(triples, ","));
}

Task<std::vector<int64_t>> last_blocks(sql::Database& database, std::vector<int64_t> topics) {
  sql::Params params(fmt::format("[{}]", fmt::join(topics, ",")));
  const sql::Rows rows = co_await database.read(find_last, std::move(params));
  std::vector<int64_t> last;
  for (const sql::Row& row : rows) last.push_back(row.integer(0));
  co_return last;
}

Task<SomeBlocks> read_blocks(sql::Database& database, BlockRange range) {
  sql::Params params(range.topic, range.from, range.to, fmt::format("[{}]", fmt::join(range.partitions, ",")),
                     blocks_per_read, messaging::bytes_at_once);
  const sql::Rows rows = co_await database.read(read_some, std::move(params));
  SomeBlocks some;
  some.blocks.reserve(rows.size());
  size_t bytes = 0;
  for (const sql::Row& row : rows) {
    some.blocks.push_back({static_cast<int32_t>(row.integer(4)), sql::LogBlock::from(row)});
    bytes += some.blocks.back().block.records.size();
  }
  const bool all = rows.size() < blocks_per_read && bytes < messaging::bytes_at_once;
  some.read_to = all ? range.to : some.blocks.back().block.id;
  co_return some;
}

}  // namespace sluice::sqlite
