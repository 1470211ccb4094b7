// How the embedded log keeps messages: in blocks.
//
// The messages published to one partition in one commit are one row of log_blocks
// (adapters/sqlite/migrations/0010_log.sql). Rows and index entries are the cost of a commit here, so 64 publishers
// share a dozen of them.
#pragma once

#include <string>
#include <vector>

#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/driver/statement.h"
#include "adapters/sql/driver/value.h"
#include "messaging/subscription.h"

namespace sluice::sql {

// A message of a block has the offset id * offsets_per_block + its number.
inline constexpr int64_t offsets_per_block = 1024;

// A message's bytes in a block; a block's are those of its messages, one after the other.
std::string log_record(const messaging::Message& message);

// The id of the next block. The caller inserts it in the same transaction.
inline constexpr Statement next_log_block =
    "SELECT max(id, coalesce((SELECT max(id) FROM log_blocks), 0)) + 1 FROM log_last_removed";
// $1 the id, $2 the topic's id, $3 the partition, $4 the number of messages, $5 their records.
inline constexpr Statement insert_log_block = R"(
    INSERT INTO log_blocks (id, topic, partition, first, count, published_at, records)
    VALUES ($1, $2, $3, 0, $4, now(), $5))"_sql;

struct LogBlock {
  int64_t id = 0;
  int64_t first = 0;
  Time published_at{};
  Bytes records{};

  // The columns id, first, published_at, records.
  static LogBlock from(const Row& row) { return {row.integer(0), row.integer(1), row.time(2), row.bytes(3)}; }
};

// The block's messages at or behind `from`, in their order; each keeps the whole block.
std::vector<messaging::Delivery> open_block(LogBlock block, const messaging::AssignmentRef& assignment, int64_t from);

// The records from message number `number` on.
std::string_view records_from(const LogBlock& block, int64_t number);

}  // namespace sluice::sql
