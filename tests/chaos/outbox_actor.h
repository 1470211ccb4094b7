// The parts of a process of the outbox tests.
#pragma once

#include <memory>
#include <string>

#include "adapters/kafka/kafka_log.h"
#include "adapters/postgres/postgres_database.h"
#include "adapters/redis/log/redis_log.h"
#include "runtime/system_clock.h"

namespace sluice::test {

// The log of a test: "kafka HOST:PORT" or "redis URL".
class ChosenLog {
 public:
  ChosenLog(const std::string& engine, const std::string& where, Executor executor, Clock& clock, Random& random) {
    if (engine == "kafka") {
      kafka_ = std::make_unique<kafka::KafkaLog>(kafka::KafkaConfig{.brokers = where}, executor, clock);
      return;
    }
    // Comes back soon after the server does.
    redis::RedisConfig config{.url = where};
    config.breaker.open_for = 200ms;
    config.breaker.open_max = 200ms;
    redis_ = std::make_unique<redis::Redis>(config, executor, clock);
    redis_log_ = std::make_unique<redis::RedisLog>(*redis_, clock, random, "outbox-test");
    const std::vector<std::string> channels{redis::LogNews::channel};
    subscriber_ = std::make_unique<redis::Subscriber>(config, executor, clock, channels, redis_log_->news());
  }
  messaging::MessageLog& log() {
    if (kafka_) return *kafka_;
    return *redis_log_;
  }
  Task<> close() {
    if (kafka_) co_await kafka_->close();
    if (!redis_) co_return;
    co_await subscriber_->close();
    co_await redis_->close();
  }

 private:
  std::unique_ptr<kafka::KafkaLog> kafka_;
  std::unique_ptr<redis::Redis> redis_;
  std::unique_ptr<redis::RedisLog> redis_log_;
  std::unique_ptr<redis::Subscriber> subscriber_;
};

}  // namespace sluice::test
