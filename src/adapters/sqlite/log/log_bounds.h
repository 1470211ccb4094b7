// The bounds of the partitions of the embedded log.
//
// The blocks' index is led by the topic alone, so a partition's first and last block are found by walking it. The
// result is remembered: the next walk covers only blocks added or removed since, and not the whole topic.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "adapters/sql/driver/database.h"
#include "adapters/sqlite/log/log_topics.h"
#include "messaging/log_view.h"

namespace sluice::sqlite {

// Safe to share between threads.
class LogBounds {
 public:
  explicit LogBounds(sql::Database& database) : database_(database) {}

  // Of each partition in order. An empty one begins and ends where the next block will be.
  Task<std::vector<messaging::PartitionBounds>> of(int64_t topic, int32_t partitions);

 private:
  struct Bounds {
    int64_t first = 0;
    int64_t end = 0;
  };
  struct Found {
    int64_t seen_to = 0;                 // the last block that was looked at
    std::map<int32_t, Bounds> bounds{};  // of partitions with messages
  };

  Task<> add_new(int64_t topic, Found& found);
  Task<> drop_removed(int64_t topic, Found& found);

  sql::Database& database_;
  std::mutex mutex_;
  std::map<int64_t, Found> found_;
};

}  // namespace sluice::sqlite
