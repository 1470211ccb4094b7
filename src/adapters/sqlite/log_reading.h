// Reading and removing blocks of the embedded log.
#pragma once

#include <string>
#include <vector>

#include "adapters/sql/database.h"
#include "adapters/sql/log_block.h"

namespace sluice::sqlite {

// One partition from an offset on.
struct LogPlace {
  int64_t topic = 0;
  int32_t partition = 0;
  int64_t from = 0;
};

// [[topic, partition, from], ...], as the statements here take many places.
std::string to_json(const std::vector<LogPlace>& places);

// Which of the places (by their index) have a block at or behind `from`. Its messages may all be before it.
Task<std::vector<size_t>> places_with_more(sql::Database& database, std::vector<LogPlace> places);

// Up to `most` blocks, the first being the one that `from` is in, or would be.
Task<std::vector<sql::LogBlock>> read_blocks(sql::Database& database, LogPlace place, size_t most);

}  // namespace sluice::sqlite
