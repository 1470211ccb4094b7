// Looking into the log in Redis.
#pragma once

#include "adapters/redis/log/redis_log.h"
#include "messaging/log_view.h"

namespace sluice::redis {

// Safe to use from any thread. `log` must outlive it.
class RedisLogView final : public messaging::LogView {
 public:
  explicit RedisLogView(RedisLog& log) : log_(log) {}

  Task<std::vector<messaging::TopicView>> topics() override;
  Task<std::vector<messaging::GroupView>> groups() override;
  Task<std::vector<messaging::Delivery>> read(std::string topic, int32_t partition, int64_t from, size_t most) override;
  Task<> trim(std::string topic, int32_t partition, int64_t before) override;

 private:
  RedisLog& log_;
};

}  // namespace sluice::redis
