#include "adapters/sqlite/log_reading.h"

#include <fmt/ranges.h>

namespace sluice::sqlite {
namespace {

constexpr sql::Statement find_more =
    "SELECT place.key FROM json_each($1) AS place WHERE EXISTS ("
    "  SELECT 1 FROM log_blocks WHERE topic = place.value ->> 0 AND partition = place.value ->> 1 "
    "  AND id >= (place.value ->> 2) / 1024)";
constexpr sql::Statement read_some =
    "SELECT id, first, published_at, records FROM log_blocks "
    "WHERE topic = $1 AND partition = $2 AND id >= $3 ORDER BY id LIMIT $4";

}  // namespace

std::string to_json(const std::vector<LogPlace>& places) {
  std::vector<std::string> triples;
  triples.reserve(places.size());
  for (const LogPlace& place : places) {
    triples.push_back(fmt::format("[{},{},{}]", place.topic, place.partition, place.from));
  }
  return fmt::format("[{}]", fmt::join(triples, ","));
}

Task<std::vector<size_t>> places_with_more(sql::Database& database, std::vector<LogPlace> places) {
  sql::Params params(to_json(places));
  const sql::Rows rows = co_await database.read(find_more, std::move(params));
  std::vector<size_t> found;
  for (const sql::Row& row : rows) found.push_back(static_cast<size_t>(row.integer(0)));
  co_return found;
}

Task<std::vector<sql::LogBlock>> read_blocks(sql::Database& database, LogPlace place, size_t most) {
  sql::Params params(place.topic, place.partition, place.from / sql::offsets_per_block, most);
  const sql::Rows rows = co_await database.read(read_some, std::move(params));
  std::vector<sql::LogBlock> blocks;
  blocks.reserve(rows.size());
  for (const sql::Row& row : rows) blocks.push_back(sql::LogBlock::from(row));
  co_return blocks;
}

}  // namespace sluice::sqlite
