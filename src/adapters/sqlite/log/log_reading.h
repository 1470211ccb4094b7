// Reading and removing blocks of the embedded log.
#pragma once

#include <string>
#include <vector>

#include "adapters/sql/driver/database.h"
#include "adapters/sql/messaging/log_block.h"

namespace sluice::sqlite {

// One partition from an offset on.
struct LogPlace {
  int64_t topic = 0;
  int32_t partition = 0;
  int64_t from = 0;
};

// [[topic, partition, from], ...], as the statements here take many places.
std::string to_json(const std::vector<LogPlace>& places);

// The id of the last block of each topic; 0: it has none.
Task<std::vector<int64_t>> last_blocks(sql::Database& database, std::vector<int64_t> topics);

struct BlockRange {
  int64_t topic = 0;
  std::vector<int32_t> partitions{};
  int64_t from = 0;
  int64_t to = 0;  // inclusive
};
struct PartitionBlock {
  int32_t partition = 0;
  sql::LogBlock block{};
};
// The first few blocks of these partitions with ids of this range, in their order. As few as keep the read small.
struct SomeBlocks {
  std::vector<PartitionBlock> blocks{};
  // No other block of these partitions is at or before this id.
  int64_t read_to = 0;
};
Task<SomeBlocks> read_blocks(sql::Database& database, BlockRange range);

}  // namespace sluice::sqlite
