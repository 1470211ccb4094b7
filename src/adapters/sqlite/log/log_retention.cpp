#include "adapters/sqlite/log/log_retention.h"

#include "adapters/sqlite/log/log_reading.h"
#include "runtime/retry.h"

namespace sluice::sqlite {
namespace {

using sql::Params;
using sql::Rows;
using sql::Statement;
using sql::Tx;
using sql::TxTask;

constexpr int64_t blocks_per_batch = 500;

// Before blocks are removed; the ids of the last ones must not come again.
constexpr Statement remember_last =
    "UPDATE log_last_removed SET id = (SELECT max(id) FROM log_blocks) WHERE id < (SELECT max(id) FROM log_blocks)";

constexpr Statement find_oldest =
    "SELECT published_at < now() - $2 FROM log_blocks WHERE topic = $1 ORDER BY id LIMIT 1";
// Reads no more than a batch: blocks behind a kept one are younger.
constexpr Statement remove_expired_blocks =
    "DELETE FROM log_blocks WHERE id IN (SELECT id FROM ("
    "  SELECT id, published_at FROM log_blocks WHERE topic = $1 ORDER BY id LIMIT $3) "
    "WHERE published_at < now() - $2)";

constexpr Statement remove_earlier_blocks =
    "DELETE FROM log_blocks WHERE id IN ("
    "  SELECT id FROM log_blocks WHERE topic = $1 AND partition = $2 AND id < $3 ORDER BY id LIMIT $4)";
constexpr Statement find_block =
    "SELECT id, first, published_at, records FROM log_blocks WHERE id = $1 AND topic = $2 AND partition = $3";
constexpr Statement remove_block = "DELETE FROM log_blocks WHERE id = $1";
constexpr Statement shorten_block =
    "UPDATE log_blocks SET first = $2, count = count - ($2 - first), records = $3 WHERE id = $1";

TxTask<int64_t> expire_batch(Tx& tx, int64_t topic, int64_t retention) {
  co_await tx.execute(remember_last);
  const Rows removed = co_await tx.execute(remove_expired_blocks, Params(topic, retention, blocks_per_batch));
  co_return removed.affected;
}

TxTask<int64_t> trim_batch(Tx& tx, int64_t topic, int32_t partition, int64_t before) {
  co_await tx.execute(remember_last);
  const Rows removed = co_await tx.execute(remove_earlier_blocks, Params(topic, partition, before, blocks_per_batch));
  co_return removed.affected;
}

// The block of `before` keeps its later messages.
TxTask<> trim_block(Tx& tx, int64_t topic, int32_t partition, int64_t before) {
  const int64_t id = before / sql::offsets_per_block;
  const int64_t number = before % sql::offsets_per_block;
  const Rows found = co_await tx.execute(find_block, Params(id, topic, partition));
  if (found.empty()) co_return;
  const auto block = sql::LogBlock::from(found.one());
  if (number <= block.first) co_return;
  const auto rest = as_bytes(sql::records_from(block, number));
  if (rest.empty()) {
    co_await tx.execute(remember_last);
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
  int64_t removed = 0;
  for (const LogTopic& each : topics) {
    const int64_t retention = each.topic.retention.count();
    Params params(each.id, retention);
    const Rows oldest = co_await database_.read(find_oldest, std::move(params));
    if (oldest.empty() || !oldest.one().boolean(0)) continue;
    int64_t batch = blocks_per_batch;
    while (batch == blocks_per_batch) {
      batch = co_await database_.transact(expire_batch, each.id, retention);
      removed += batch;
    }
  }
  co_return removed;
}

Task<> trim_partition(sql::Database& database, int64_t topic, int32_t partition, int64_t before) {
  int64_t batch = blocks_per_batch;
  while (batch == blocks_per_batch) {
    batch = co_await database.transact(trim_batch, topic, partition, before / sql::offsets_per_block);
  }
  co_await database.transact(trim_block, topic, partition, before);
}

}  // namespace sluice::sqlite
