#include "tests/chaos/killed_log.h"

#include "adapters/kafka/kafka_log.h"
#include "adapters/redis/log/redis_log.h"
#include "adapters/sqlite/log/embedded_log.h"
#include "base/check.h"

namespace sluice::test {
namespace {

class KilledEmbeddedLog : public KilledLog {
 public:
  KilledEmbeddedLog(const std::string& folder, Clock& clock)
      : database_({.folder = folder, .may_visit = true}, clock), log_(database_, clock) {}
  messaging::MessageLog& log() override { return log_; }

 private:
  sqlite::SqliteDatabase database_;
  sqlite::EmbeddedLog log_;
};

class KilledRedisLog : public KilledLog {
 public:
  KilledRedisLog(const std::string& url, asio::io_context& io, Clock& clock, Random& random)
      : redis_({.url = url, .connect_timeout = 30s, .command_timeout = 30s}, io.get_executor(), clock),
        log_(redis_, clock, random, "killed") {}
  messaging::MessageLog& log() override { return log_; }
  Task<> close() override { return redis_.close(); }

 private:
  redis::Redis redis_;
  redis::RedisLog log_;
};

class KilledKafkaLog : public KilledLog {
 public:
  KilledKafkaLog(const std::string& brokers, asio::io_context& io, Clock& clock)
      : log_({.brokers = brokers}, io.get_executor(), clock) {}
  messaging::MessageLog& log() override { return log_; }
  Task<> close() override { return log_.close(); }

 private:
  kafka::KafkaLog log_;
};

}  // namespace

std::unique_ptr<KilledLog> open_killed_log(const std::string& engine, const std::string& place, asio::io_context& io,
                                           Clock& clock, Random& random) {
  if (engine == "embedded") return std::make_unique<KilledEmbeddedLog>(place, clock);
  if (engine == "redis") return std::make_unique<KilledRedisLog>(place, io, clock, random);
  check(engine == "kafka", "an engine that is known");
  return std::make_unique<KilledKafkaLog>(place, io, clock);
}

}  // namespace sluice::test
