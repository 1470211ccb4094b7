#include "adapters/redis/coordination/redis_coalescing.h"

#include <future>

#include "coordination/testing/pretend_floors.h"
#include "tests/contract/coalescing_suite.h"
#include "tests/contract/coalescing_walk_suite.h"
#include "tests/contract/redis_engines.h"

namespace sluice::test {
namespace {

using coordination::CoalescingPlan;
using coordination::RefreshAnswer;
using coordination::Version;
using redis::RedisCoalescing;

// Two instances of a server, each with a client of its own. The database outlasts all tests.
class OpenRedisCoalescing : public OpenCoalescing {
 public:
  OpenRedisCoalescing(RedisEngine engine, asio::io_context& io, const CoalescingPlan& plan)
      : engine_(std::move(engine)),
        first_(engine_, io),
        second_(engine_, io),
        one_(first_.redis(), floors(), plan, "test"),
        other_(second_.redis(), floors(), plan, "test") {}

  coordination::Coalescing& one() override { return one_; }
  coordination::Coalescing& other() override { return other_; }
  void wipe() override { engine_.wipe(); }
  Task<> close() override {
    co_await first_.close();
    co_await second_.close();
  }
  redis::Redis& redis() { return first_.redis(); }

  static coordination::PretendFloors& floors() {
    static SystemClock clock;
    static coordination::PretendFloors shared(clock);
    return shared;
  }

 private:
  RedisEngine engine_;
  OpenRedis first_;
  OpenRedis second_;
  RedisCoalescing one_;
  RedisCoalescing other_;
};

std::vector<CoalescingEngine> coalescing_engines() {
  std::vector<CoalescingEngine> engines;
  for (const RedisEngine& engine : redis_engines()) {
    engines.push_back({.name = engine.name, .open = [engine](asio::io_context& io, const CoalescingPlan& plan) {
                         return std::make_unique<OpenRedisCoalescing>(engine, io, plan);
                       }});
  }
  return engines;
}

std::string coalescing_engine_name(const testing::TestParamInfo<CoalescingEngine>& info) {
  return info.param.name;
}

class RedisCoalescingTest : public TaskFixture, public testing::WithParamInterface<RedisEngine> {
 protected:
  void SetUp() override { open_.emplace(GetParam(), io_, CoalescingPlan{.lanes = {{"only", 1min}}}); }
  void TearDown() override { run(open_->close()); }

  RefreshAnswer ask(coordination::Coalescing& instance, const std::string& item, Duration lag = 20min) {
    return run(instance.request({item, 0, 0, {lag}}));
  }
  // In minutes, begun ones included.
  int64_t kept_for(const std::string& item) {
    redis::Command command = redis::Command("PTTL").key(key_of(item));
    return (run(open_->redis().run(std::move(command))).integer() + 59'999) / 60'000;
  }
  static std::string key_of(const std::string& item) { return "sluice:coalescing:test:{" + item + "}"; }

  std::optional<OpenRedisCoalescing> open_;
  const std::string item_ = unique("redis-item");
};

TEST_P(RedisCoalescingTest, an_item_is_kept_for_45_minutes_beyond_its_last_use) {
  ask(open_->one(), item_);
  EXPECT_EQ(kept_for(item_), 45);
}

TEST_P(RedisCoalescingTest, an_item_whose_lane_lags_is_kept_as_long_as_its_message_may_wait) {
  const Version version = ask(open_->one(), item_, 10h).message.version;
  EXPECT_EQ(kept_for(item_), 20 * 60);
  ask(open_->other(), item_, 11h);
  EXPECT_EQ(kept_for(item_), 22 * 60);
  run(open_->one().look({.item = item_, .version = version, .owner = "owner"}));
  EXPECT_EQ(kept_for(item_), 22 * 60) << "it still waits";
  run(open_->one().finish(item_, "owner", version));
  EXPECT_EQ(kept_for(item_), 45) << "nothing of it waits any more";
}

TEST_P(RedisCoalescingTest, the_database_is_asked_once_for_each_server) {
  const int before = OpenRedisCoalescing::floors().asked();
  for (int i = 0; i < 100; ++i) ask(open_->one(), fmt::format("{}-{}", item_, i));
  EXPECT_LE(OpenRedisCoalescing::floors().asked() - before, 3);
}

// Killed while two instances ask all the time: calls fail for a while and then go on by themselves. What was known may
// be gone or older than it was, but no version comes again and none is lower than one before.
TEST_P(RedisCoalescingTest, a_server_killed_in_the_middle_costs_time_only) {
  Version highest = 0;
  int issued_afterwards = 0;
  const auto replaced = std::async(std::launch::async, GetParam().replace_server_of, key_of(item_));
  for (int i = 0; issued_afterwards < 20; ++i) {
    coordination::Coalescing& instance = i % 2 == 0 ? open_->one() : open_->other();
    try {
      const RefreshAnswer answer = ask(instance, item_);
      if (answer.to_publish()) {
        ASSERT_GT(answer.message.version, highest);
        if (replaced.wait_for(0s) == std::future_status::ready) ++issued_afterwards;
      }
      highest = std::max(highest, answer.message.version);
      run(instance.finish(item_, "nobody", highest));
    } catch (const EngineUnavailable&) {
    }
  }
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Redis, CoalescingContract, testing::ValuesIn(coalescing_engines()), coalescing_engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, CoalescingWalk, testing::ValuesIn(coalescing_engines()), coalescing_engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, RedisCoalescingTest, testing::ValuesIn(redis_engines()), redis_engine_name);

}  // namespace sluice::test
