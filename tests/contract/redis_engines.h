// Redis in its forms, for contract suites: a single server, and a cluster of three masters with a replica each.
//
//   INSTANTIATE_TEST_SUITE_P(Redis, SomeContract, testing::ValuesIn(redis_engines()), redis_engine_name);
//
// The servers start with the first test that needs them and serve the whole program.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/redis/client/redis.h"
#include "runtime/system_clock.h"
#include "tests/support/redis_cluster.h"

namespace sluice::test {

RedisServer& shared_redis();
RedisCluster& shared_redis_cluster();

struct RedisEngine {
  std::string name;
  std::function<redis::RedisConfig()> config;
  // Forgets every key of every server.
  std::function<void()> wipe;
  // Kills the server of the key and returns when the key is served again: by the same server, empty, or by its replica.
  std::function<void(const std::string& key)> replace_server_of;

  friend void PrintTo(const RedisEngine& engine, std::ostream* out) { *out << engine.name; }
};

std::vector<RedisEngine> redis_engines();

inline std::string redis_engine_name(const testing::TestParamInfo<RedisEngine>& info) {
  return info.param.name;
}

// A client for one test, on the test's thread.
class OpenRedis {
 public:
  OpenRedis(const RedisEngine& engine, asio::io_context& io) : redis_(engine.config(), io.get_executor(), clock_) {}

  redis::Redis& redis() { return redis_; }
  Clock& clock() { return clock_; }
  Task<> close() { return redis_.close(); }

 private:
  SystemClock clock_;
  redis::Redis redis_;
};

}  // namespace sluice::test
