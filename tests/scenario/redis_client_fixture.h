// Drives a Redis client from a plain test: its connections on one thread, its callers on another.
#pragma once

#include <future>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "adapters/redis/client/redis.h"
#include "runtime/io_threads.h"
#include "runtime/metrics.h"
#include "runtime/system_clock.h"
#include "tests/support/needs.h"
#include "tests/support/redis_server.h"

namespace sluice::redis {

// Runs `attempt` until it holds; each costs a round trip at least, or is cheap. False after a long while.
template <class Attempt>
bool eventually(Attempt attempt) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!attempt()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// How a call ended. As a value, because TSan can't see how libstdc++ counts who still holds an exception that crosses
// threads.
struct Ended {
  Reply reply;
  std::string failure = "none";  // "late: what", "not run: what", ...
};

inline Task<Ended> end_of(Task<Reply> call) {
  Ended ended;
  try {
    ended.reply = co_await std::move(call);
  } catch (const Refused& error) {
    ended.failure = std::string("refused: ") + error.what();
  } catch (const Overloaded& error) {
    ended.failure = std::string("overloaded: ") + error.what();
  } catch (const DeadlineExceeded& error) {
    ended.failure = std::string("late: ") + error.what();
  } catch (const EngineUnavailable& error) {
    ended.failure = std::string(error.retryable() ? "not run: " : "unknown: ") + error.what();
  }
  co_return ended;
}

// A call under way.
class Pending {
 public:
  explicit Pending(std::future<Ended> ended) : ended_(ended.share()) {}

  void wait() const { ended_.wait(); }
  Reply reply() const {
    const Ended& ended = ended_.get();
    if (ended.failure != "none") throw std::runtime_error(ended.failure);
    return ended.reply;
  }
  std::string failure() const { return ended_.get().failure; }

 private:
  std::shared_future<Ended> ended_;
};

// However long this machine lets a server or a client stand still, a time limit that no test chose does not pass.
inline RedisConfig patient(RedisConfig config) {
  const RedisConfig usual;
  if (config.connect_timeout == usual.connect_timeout) config.connect_timeout = 30s;
  if (config.command_timeout == usual.command_timeout) config.command_timeout = 30s;
  return config;
}

struct RedisClient : testing::Test {
  RedisClient() { threads.start(); }
  ~RedisClient() override { close(); }

  void SetUp() override { SLUICE_NEEDS(test::RedisServer::why_missing()); }

  void connect(RedisConfig config) {
    close();
    client = std::make_unique<Redis>(patient(std::move(config)), threads.executor(0), clock);
  }
  void close() {
    if (client) wait_for(client->close(), 0);
    for (const Pending& call : std::exchange(started_, {})) call.wait();
    client.reset();
  }

  // A task that does not fail, on the callers' thread or another.
  template <class Value>
  Value wait_for(Task<Value> task, size_t thread = 1) {
    return asio::co_spawn(threads.executor(thread), std::move(task), asio::use_future).get();
  }

  Pending start(Command command, Deadline deadline = {}) {
    Task<Ended> call = end_of(client->run(std::move(command), deadline));
    started_.emplace_back(asio::co_spawn(threads.executor(1), std::move(call), asio::use_future));
    return started_.back();
  }
  // Returns when earlier commands have been handed to the connection.
  void let_it_leave() {
    wait_for(nothing(), 1);
    wait_for(nothing(), 0);
  }
  static Task<> nothing() { co_return; }

  Reply run(Command command) { return start(std::move(command)).reply(); }
  std::string failure(Command command, Deadline deadline = {}) { return start(std::move(command), deadline).failure(); }
  bool works(const std::string& key = "probe") { return failure(Command("GET").key(key)) == "none"; }
  bool works_within(Duration limit, const std::string& key) {
    return failure(Command("GET").key(key).within(limit)) == "none";
  }

  static bool metrics_say(const std::string& line) { return metrics::expose().contains(line + "\n"); }

  IoThreads threads{2};
  SystemClock clock;
  std::unique_ptr<Redis> client;

 private:
  std::vector<Pending> started_;  // of this client
};

}  // namespace sluice::redis
