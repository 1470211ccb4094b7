// Drives a Redis client from a plain test: its connections on one thread, its callers on another.
#pragma once

#include <future>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "adapters/redis/redis.h"
#include "runtime/io_threads.h"
#include "runtime/metrics.h"
#include "runtime/system_clock.h"
#include "tests/support/needs.h"
#include "tests/support/redis_server.h"

namespace sluice::redis {

// Runs `attempt` until it holds; each costs a round trip at least, or is cheap. False after a long while.
template <class Attempt>
bool eventually(Attempt attempt) {
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (!attempt()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

struct RedisClient : testing::Test {
  RedisClient() { threads.start(); }
  ~RedisClient() override { close(); }

  void SetUp() override { SLUICE_NEEDS(test::RedisServer::why_missing()); }

  void connect(RedisConfig config) {
    close();
    client = std::make_unique<Redis>(std::move(config), threads.executor(0), clock);
  }
  void close() {
    if (client) wait_for(client->close(), 0);
    client.reset();
  }

  // On the callers' thread, or another.
  template <class Value>
  Value wait_for(Task<Value> task, size_t thread = 1) {
    return start(std::move(task), thread).get();
  }
  template <class Value>
  std::future<Value> start(Task<Value> task, size_t thread = 1) {
    return asio::co_spawn(threads.executor(thread), std::move(task), asio::use_future);
  }

  std::future<Reply> start(Command command) { return start(client->run(std::move(command))); }
  Reply run(Command command) { return start(std::move(command)).get(); }
  // "kind: what", of a call that fails.
  std::string failure(Command command) {
    try {
      run(std::move(command));
      return "none";
    } catch (const Refused& error) {
      return std::string("refused: ") + error.what();
    } catch (const Overloaded& error) {
      return std::string("overloaded: ") + error.what();
    } catch (const DeadlineExceeded& error) {
      return std::string("late: ") + error.what();
    } catch (const EngineUnavailable& error) {
      return std::string(error.retryable() ? "not run: " : "unknown: ") + error.what();
    }
  }
  bool works(const std::string& key = "probe") { return failure(Command("GET").key(key)) == "none"; }

  static bool metrics_say(const std::string& line) { return metrics::expose().contains(line + "\n"); }

  IoThreads threads{2};
  SystemClock clock;
  std::unique_ptr<Redis> client;
};

}  // namespace sluice::redis
