// The embedded log's topics.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "adapters/sql/driver/database.h"
#include "messaging/topic.h"

namespace sluice::sqlite {

struct LogTopic {
  int64_t id = 0;
  messaging::Topic topic;
};

// Safe to share between threads.
class LogTopics {
 public:
  explicit LogTopics(sql::Database& database) : database_(database) {}

  Task<> declare(std::vector<messaging::Topic> topics);

  // By name. Another process may have declared some of them.
  Task<std::vector<LogTopic>> all();

  struct Place {
    int64_t id = 0;
    int32_t partitions = 0;
  };
  // As of the last `declare` or `all`: never wrong, since neither changes, but perhaps incomplete.
  std::optional<Place> known(const std::string& name) const;

 private:
  sql::Database& database_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Place> known_;
};

}  // namespace sluice::sqlite
