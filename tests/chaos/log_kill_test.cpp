// A consumer killed with SIGKILL again and again, while publishing goes on: everything acknowledged is handled, and a
// message of a key begins only when all before it have ended, in whichever of the processes.
#include <atomic>
#include <csignal>
#include <map>
#include <sstream>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include "runtime/errors.h"
#include "runtime/system_clock.h"
#include "tests/chaos/killed_log.h"
#include "tests/support/kafka_broker.h"
#include "tests/support/needs.h"
#include "tests/support/process.h"
#include "tests/support/redis_server.h"
#include "tests/support/run_length.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

constexpr int keys = 10;

// Publishes numbers from 0 with every key, without pause, on a thread of its own.
class KeenPublisher {
 public:
  KeenPublisher(const std::string& engine, const std::string& place)
      : log_(open_killed_log(engine, place, io_, clock_, random_)) {
    asio::co_spawn(io_, publish_all(), [](const std::exception_ptr& error) {
      if (error) std::rethrow_exception(error);
    });
    thread_ = std::thread([this] { io_.run(); });
  }
  ~KeenPublisher() { stop(); }

  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  // How many of each key were acknowledged. After stop.
  const std::map<std::string, int>& acknowledged() const { return acknowledged_; }

 private:
  Task<> publish_all() {
    int running = keys;
    for (int i = 0; i < keys; ++i) {
      asio::co_spawn(io_, publish_key("key" + std::to_string(i)), [&running](const std::exception_ptr& error) {
        --running;
        if (error) std::rethrow_exception(error);
      });
    }
    while (running > 0) co_await clock_.sleep_for(10ms);
    co_await log_->close();
    io_.stop();  // a client may listen until it is gone
  }

  Task<> publish_key(std::string key) {
    for (int number = 0; !stopping_;) {
      try {
        messaging::Message message{killed_topic, key, std::to_string(number)};
        co_await messaging::publish_one(log_->log(), std::move(message));
        acknowledged_[key] = ++number;
      } catch (const EngineUnavailable&) {
        // It may be there all the same: the same number again.
      }
      co_await clock_.sleep_for(5ms);
    }
  }

  SystemClock clock_;
  SeededRandom random_{1};
  asio::io_context io_;
  std::unique_ptr<KilledLog> log_;
  std::atomic<bool> stopping_ = false;
  std::map<std::string, int> acknowledged_;
  std::thread thread_;
};

class LogKill : public testing::Test {
 protected:
  void kill_again_and_again(const std::string& engine, const std::string& place) {
    const std::vector<std::string> command{binary("log_consumer"), engine, place};
    auto consumer = std::make_unique<Process>(ProcessOptions{.arguments = command});
    consumer->wait_for_line("ready", 60s);
    KeenPublisher publisher(engine, place);
    const int kills = in_full() ? 50 : 5;
    for (int i = 0; i < kills; ++i) {
      listen(*consumer, 50 + random_.below(300));
      consumer->signal(SIGKILL);
      while (const auto line = consumer->next_line()) learn(*line);
      ASSERT_EQ(consumer->wait(), 128 + SIGKILL) << consumer->output();
      ASSERT_FALSE(HasFailure());
      consumer = std::make_unique<Process>(ProcessOptions{.arguments = command});
    }
    publisher.stop();
    while (!all_ended(publisher.acknowledged())) {
      const auto line = consumer->next_line(60s);
      ASSERT_TRUE(line) << consumer->output();
      learn(*line);
    }
    EXPECT_GT(begun_, total(publisher.acknowledged())) << "some of it was handled twice";
  }

 private:
  void listen(Process& consumer, uint64_t messages) {
    for (uint64_t ended = 0; ended < messages;) {
      const auto line = consumer.next_line(60s);
      ASSERT_TRUE(line) << consumer.output();
      ended += learn(*line) ? 1 : 0;
    }
  }

  // True for the end of a message.
  bool learn(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    std::string key;
    int number = 0;
    words >> what >> key >> number;
    if (what == "begin") {
      ++begun_;
      EXPECT_LE(number, ended_[key]) << line;
    } else if (what == "end") {
      ended_[key] = std::max(ended_[key], number + 1);
      return true;
    }
    return false;
  }

  bool all_ended(const std::map<std::string, int>& acknowledged) {
    return std::ranges::all_of(acknowledged, [&](const auto& each) { return ended_[each.first] >= each.second; });
  }
  static int total(const std::map<std::string, int>& counts) {
    int sum = 0;
    for (const auto& [key, count] : counts) sum += count;
    return sum;
  }

  SeededRandom random_{static_cast<uint64_t>(SystemClock().wall().time_since_epoch().count())};
  std::map<std::string, int> ended_;  // by key: all numbers before
  int begun_ = 0;
};

TEST_F(LogKill, nothing_acknowledged_is_lost_or_out_of_order_in_the_embedded_log) {
  const TemporaryFolder folder;
  kill_again_and_again("embedded", folder.path());
}

TEST_F(LogKill, nothing_acknowledged_is_lost_or_out_of_order_in_redis) {
  SLUICE_NEEDS(RedisServer::why_missing());
  const RedisServer redis;
  kill_again_and_again("redis", redis.url());
}

TEST_F(LogKill, nothing_acknowledged_is_lost_or_out_of_order_in_kafka) {
  SLUICE_NEEDS(KafkaBroker::why_missing());
  const KafkaBroker kafka;
  kill_again_and_again("kafka", kafka.address());
}

}  // namespace
}  // namespace sluice::test
