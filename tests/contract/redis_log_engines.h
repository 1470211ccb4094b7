// The log in Redis for contract suites and tests: the parts of one process.
#pragma once

#include "adapters/redis/log/redis_log.h"
#include "adapters/redis/log/redis_log_retention.h"
#include "adapters/redis/log/redis_log_view.h"
#include "runtime/io_threads.h"
#include "tests/contract/log_fixture.h"
#include "tests/contract/redis_engines.h"

namespace sluice::test {

// The log's parts in one process.
class OpenRedisLog {
 public:
  OpenRedisLog(const RedisEngine& engine, asio::io_context& io, Duration sweep_every = 500ms)
      : open_(engine, io),
        subscriber_(engine.config(), io.get_executor(), open_.clock(), {redis::LogNews::channel}, log_.news()),
        scope_(io.get_executor()) {
    retention_.start(scope_, sweep_every);
  }

  redis::RedisLog& log() { return log_; }
  redis::RedisLogView& view() { return view_; }
  redis::Redis& redis() { return open_.redis(); }

  Task<> close() {
    co_await scope_.close();
    co_await subscriber_.close();
    co_await open_.close();
  }

 private:
  // Processes are told apart by chance.
  static uint64_t seed() {
    static uint64_t last = 0;
    return ++last;
  }

  SeededRandom random_{seed()};
  SeededRandom sweeping_{seed()};
  OpenRedis open_;
  redis::RedisLog log_{open_.redis(), open_.clock(), random_, "tests"};
  redis::RedisLogView view_{log_};
  redis::RedisLogRetention retention_{log_, sweeping_};
  redis::Subscriber subscriber_;
  TaskScope scope_;
};

class OpenTestedRedisLog : public OpenPort<TestedLog>, public TestedLog {
 public:
  OpenTestedRedisLog(const RedisEngine& engine, asio::io_context& io) : here_(engine, io), there_(engine, io) {}

  TestedLog& port() override { return *this; }
  messaging::MessageLog& log() override { return here_.log(); }
  messaging::LogView& view() override { return here_.view(); }
  messaging::MessageLog& other_log() override { return there_.log(); }
  Task<> close() override {
    co_await here_.close();
    co_await there_.close();
  }

 private:
  OpenRedisLog here_;
  OpenRedisLog there_;
};

// The same with its connections on another thread than its users, as a server has them.
class OpenThreadedRedisLog : public OpenPort<TestedLog>, public TestedLog {
 public:
  OpenThreadedRedisLog(const RedisEngine& engine, asio::io_context&) : open_(engine, threads_.context(0)) {
    threads_.start();
  }

  TestedLog& port() override { return *this; }
  messaging::MessageLog& log() override { return open_.log(); }
  messaging::LogView& view() override { return open_.view(); }
  Task<> close() override {
    co_await asio::co_spawn(threads_.executor(0), open_.close(), asio::use_awaitable);
    threads_.stop();
  }

 private:
  IoThreads threads_{1};
  OpenRedisLog open_;
};

inline std::vector<PortEngine<TestedLog>> redis_logs() {
  std::vector<PortEngine<TestedLog>> all;
  for (const RedisEngine& engine : redis_engines()) {
    all.push_back({.name = engine.name, .open = [engine](asio::io_context& io) {
                     return std::make_unique<OpenTestedRedisLog>(engine, io);
                   }});
  }
  return all;
}

}  // namespace sluice::test
