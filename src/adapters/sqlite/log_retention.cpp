#include "adapters/sqlite/log_retention.h"

#include "adapters/sqlite/log_reading.h"
#include "runtime/retry.h"

namespace sluice::sqlite {
namespace {

using sql::Params;
using sql::Rows;
using sql::Statement;
using sql::Tx;
using sql::TxTask;

constexpr int64_t blocks_per_batch = 500;

// Partitions whose oldest block is older than $1's third value, in microseconds.
constexpr Statement find_expired =
    "SELECT place.value ->> 0, place.value ->> 1, place.value ->> 2 FROM json_each($1) AS place WHERE ("
    "  SELECT published_at FROM log_blocks WHERE topic = place.value ->> 0 AND partition = place.value ->> 1 "
    "  ORDER BY id LIMIT 1) < now() - (place.value ->> 2)";
// Looks at no more than a batch: what is behind a block that is kept is younger.
constexpr Statement remove_batch =
    "DELETE FROM log_blocks WHERE id IN (SELECT id FROM ("
    "  SELECT id, published_at FROM log_blocks WHERE topic = $1 AND partition = $2 ORDER BY id LIMIT $4) "
    "WHERE published_at < now() - $3)";

constexpr Statement trim_batch =
    "DELETE FROM log_blocks WHERE id IN ("
    "  SELECT id FROM log_blocks WHERE topic = $1 AND partition = $2 AND id < $3 ORDER BY id LIMIT $4)";
constexpr Statement find_block =
    "SELECT id, first, published_at, records FROM log_blocks WHERE id = $1 AND topic = $2 AND partition = $3";
constexpr Statement remove_block = "DELETE FROM log_blocks WHERE id = $1";
constexpr Statement shorten_block =
    "UPDATE log_blocks SET first = $2, count = count - ($2 - first), records = $3 WHERE id = $1";

// The block that `before` lies in keeps what is behind.
TxTask<> trim_block(Tx& tx, int64_t topic, int32_t partition, int64_t before) {
  const int64_t id = before / sql::offsets_per_block;
  const int64_t number = before % sql::offsets_per_block;
  const Rows found = co_await tx.execute(find_block, Params(id, topic, partition));
  if (found.empty()) co_return;
  const auto block = sql::LogBlock::from(found.one());
  if (number <= block.first) co_return;
  const auto rest = as_bytes(sql::records_from(block, number));
  if (rest.empty()) {
    co_await tx.execute(remove_block, Params(id));
    co_return;
  }
  co_await tx.execute(shorten_block, Params(id, number, Bytes(rest.begin(), rest.end())));
}

}  // namespace

Task<> LogRetention::run() {
  return run_forever("log retention", clock_, random_, [this] { return round(); });
}

Task<> LogRetention::round() {
  co_await remove_expired();
  co_await clock_.sleep_for(interval_);
}

Task<int64_t> LogRetention::remove_expired() {
  const std::vector<LogTopic> topics = co_await topics_.all();
  std::vector<LogPlace> places;
  for (const LogTopic& each : topics) {
    for (int32_t i = 0; i < each.topic.partitions; ++i) places.push_back({each.id, i, each.topic.retention.count()});
  }
  Params all(to_json(places));
  const Rows expired = co_await database_.read(find_expired, std::move(all));
  int64_t removed = 0;
  for (const sql::Row& place : expired) {
    int64_t batch = blocks_per_batch;
    while (batch == blocks_per_batch) {
      Params params(place.integer(0), place.integer(1), place.integer(2), blocks_per_batch);
      const Rows deleted = co_await database_.write(remove_batch, std::move(params));
      batch = deleted.affected;
      removed += batch;
    }
  }
  co_return removed;
}

Task<> trim_partition(sql::Database& database, int64_t topic, int32_t partition, int64_t before) {
  int64_t batch = blocks_per_batch;
  while (batch == blocks_per_batch) {
    Params params(topic, partition, before / sql::offsets_per_block, blocks_per_batch);
    const Rows deleted = co_await database.write(trim_batch, std::move(params));
    batch = deleted.affected;
  }
  co_await database.transact(trim_block, topic, partition, before);
}

}  // namespace sluice::sqlite
