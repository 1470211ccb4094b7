#include "adapters/sqlite/log_appender.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "adapters/sql/log_block.h"
#include "base/check.h"
#include "runtime/metrics.h"

namespace sluice::sqlite {
namespace {

const metrics::Counter messages_total{"embedded_log_messages_total", "Messages stored in the embedded log."};
const metrics::Counter blocks_total{"embedded_log_blocks_total", "Blocks in which the embedded log stored messages."};

// What may wait for the disk at a time; more is refused.
constexpr size_t max_waiting_bytes = size_t{64} << 20;
// Readers keep a whole block for each message they have in work. One message may be larger.
constexpr size_t max_block_bytes = size_t{256} << 10;

using Entry = LogAppender::Entry;
using Placed = LogAppender::Placed;

size_t bytes_of(const std::vector<Entry>& entries) {
  size_t bytes = 0;
  for (const Entry& entry : entries) bytes += entry.record.size();
  return bytes;
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

Task<std::vector<Entry>> LogAppender::append(std::vector<Entry> entries) {
  const size_t bytes = bytes_of(entries);
  if (queue_.full() || bytes_.load(std::memory_order_relaxed) > max_waiting_bytes) throw Overloaded("sqlite");
  const Executor executor = co_await asio::this_coro::executor;
  const auto append = std::make_shared<Append>(std::move(entries));
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    pending_.push_back(append);
  }
  // Whichever commit this takes part in, the entries were pending before it began.
  Write presence{.executor = executor};
  co_await queue_.submit(presence);
  const Append::State state = append->state.load(std::memory_order_acquire);
  if (state == Append::State::stored) co_return std::move(append->entries);
  if (presence.error) std::rethrow_exception(presence.error);
  check(state == Append::State::failed, "a commit left messages behind");
  throw EngineUnavailable("sqlite", "the messages could not be stored", EngineUnavailable::Retryable::no);
}

void LogAppender::before_commit(Connection& connection) {
  {
    const std::lock_guard lock(mutex_);
    std::ranges::move(pending_, std::back_inserter(under_way_));
    pending_.clear();
  }
  if (under_way_.empty()) return;
  std::vector<Placed> placed = by_partition();
  int64_t id = connection.execute(sql::next_log_block.sqlite).one().integer(0);
  blocks_ = 0;
  for (std::span<Placed> left(placed); !left.empty(); ++blocks_) {
    const size_t count = block_size(left);
    write_block(connection, id++, left.first(count));
    left = left.subspan(count);
  }
}

// Partition by partition, each in the order of its coming.
std::vector<LogAppender::Placed> LogAppender::by_partition() {
  std::vector<Placed> placed;
  for (const auto& append : under_way_) {
    for (Entry& entry : append->entries) placed.push_back({entry.topic, entry.partition, placed.size(), &entry});
  }
  std::ranges::sort(placed, {}, [](const Placed& one) { return std::tuple(one.topic, one.partition, one.order); });
  return placed;
}

void LogAppender::committed() {
  if (under_way_.empty()) return;
  size_t messages = 0;
  for (const auto& append : under_way_) messages += append->entries.size();
  messages_total.add(messages);
  blocks_total.add(blocks_);
  end_all(Append::State::stored);
}

void LogAppender::commit_failed(std::string_view) {
  end_all(Append::State::failed);
}

void LogAppender::end_all(Append::State state) {
  for (const auto& append : under_way_) {
    bytes_.fetch_sub(bytes_of(append->entries), std::memory_order_relaxed);
    append->state.store(state, std::memory_order_release);
  }
  under_way_.clear();
}

}  // namespace sluice::sqlite
