#include "adapters/sqlite/log/log_appender.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "adapters/sql/messaging/log_block.h"
#include "runtime/metrics.h"

namespace sluice::sqlite {
namespace {

const metrics::Counter messages_total{"embedded_log_messages_total", "Messages stored in the embedded log."};
const metrics::Counter blocks_total{"embedded_log_blocks_total", "Blocks of messages stored in the embedded log."};

// Bytes that may wait for the disk; more is refused.
constexpr size_t max_waiting_bytes = size_t{64} << 20;
// Readers keep a whole block for each message they have in work. One message may be larger.
constexpr size_t max_block_bytes = size_t{256} << 10;

struct Placed {
  int64_t topic = 0;
  int32_t partition = 0;
  size_t order = 0;
  LogEntry* entry = nullptr;
};

// Partition by partition, each in the order of its coming.
std::vector<Placed> by_partition(const Writes& group) {
  std::vector<Placed> placed;
  for (const Write* write : group) {
    if (write->messages == nullptr) continue;
    for (LogEntry& entry : *write->messages) placed.push_back({entry.topic, entry.partition, placed.size(), &entry});
  }
  std::ranges::sort(placed, {}, [](const Placed& one) { return std::tuple(one.topic, one.partition, one.order); });
  return placed;
}

// How many of `placed` the next block takes: of one partition, and not too many bytes.
size_t block_size(std::span<const Placed> placed) {
  size_t bytes = placed[0].entry->record.size();
  size_t count = 1;
  const size_t most = std::min(placed.size(), static_cast<size_t>(sql::offsets_per_block));
  for (; count < most; ++count) {
    const Placed& next = placed[count];
    bytes += next.entry->record.size();
    if (next.topic != placed[0].topic || next.partition != placed[0].partition || bytes > max_block_bytes) break;
  }
  return count;
}

void write_block(Connection& connection, int64_t id, std::span<const Placed> placed) {
  size_t bytes = 0;
  for (const Placed& one : placed) bytes += one.entry->record.size();
  Bytes records;
  records.reserve(bytes);
  for (const Placed& one : placed) {
    const auto record = as_bytes(one.entry->record);
    records.insert(records.end(), record.begin(), record.end());
  }
  const sql::Params row(id, placed[0].topic, placed[0].partition, placed.size(), std::move(records));
  connection.execute(sql::insert_log_block.sqlite, row);
  int64_t offset = id * sql::offsets_per_block;
  for (const Placed& one : placed) one.entry->offset = offset++;
}

}  // namespace

LogAppender::Waiting::Waiting(LogAppender& appender, const std::vector<LogEntry>& entries) : appender_(appender) {
  for (const LogEntry& entry : entries) bytes_ += entry.record.size();
  const size_t before = appender_.bytes_.fetch_add(bytes_, std::memory_order_relaxed);
  if (before <= max_waiting_bytes) return;
  appender_.bytes_.fetch_sub(bytes_, std::memory_order_relaxed);
  throw Overloaded("sqlite");
}

void LogAppender::before_commit(Connection& connection, const Writes& group) {
  std::vector<Placed> placed = by_partition(group);
  messages_ = placed.size();
  blocks_ = 0;
  if (placed.empty()) return;
  int64_t id = connection.execute(sql::next_log_block.sqlite).one().integer(0);
  for (std::span<Placed> left(placed); !left.empty(); ++blocks_) {
    const size_t count = block_size(left);
    write_block(connection, id++, left.first(count));
    left = left.subspan(count);
  }
}

void LogAppender::committed() {
  messages_total.add(messages_);
  blocks_total.add(blocks_);
}

}  // namespace sluice::sqlite
