#include "adapters/redis/coordination/redis_limit.h"

#include <future>

#include "base/random.h"
#include "tests/contract/redis_engines.h"
#include "tests/contract/shared_limit_suite.h"

namespace sluice::test {
namespace {

using coordination::Drawn;
using coordination::LimitPlan;
using coordination::Stamp;
using redis::RedisLimit;

class OpenRedisLimits : public OpenLimits {
 public:
  OpenRedisLimits(const RedisEngine& engine, asio::io_context& io) : wipe_(engine.wipe), redis_(engine, io) {}

  coordination::SharedLimit& instance(LimitPlan plan) override {
    limits_.push_back(std::make_unique<RedisLimit>(redis_.redis(), std::move(plan), redis_.clock()));
    return *limits_.back();
  }
  Task<> lose(LimitPlan) override {
    wipe_();
    co_return;
  }
  Task<> close() override { return redis_.close(); }

 private:
  std::function<void()> wipe_;
  OpenRedis redis_;
  std::vector<std::unique_ptr<RedisLimit>> limits_;
};

std::vector<LimitEngine> limit_engines() {
  std::vector<LimitEngine> engines;
  for (const RedisEngine& engine : redis_engines()) {
    engines.push_back(
        {engine.name, [engine](asio::io_context& io) { return std::make_unique<OpenRedisLimits>(engine, io); }});
  }
  return engines;
}

// A clock that was never set.
class SkewedClock : public SystemClock {
 public:
  explicit SkewedClock(Duration ahead) : ahead_(ahead) {}
  Instant now() const override { return SystemClock::now() + ahead_; }
  Task<> sleep_until(Instant when) override { return SystemClock::sleep_until(when - ahead_); }

 private:
  Duration ahead_;
};

class RedisLimitTest : public TaskFixture, public testing::WithParamInterface<RedisEngine> {
 protected:
  void SetUp() override {
    open_.emplace(GetParam(), io_);
    static int count = 0;
    plan_ = {.name = fmt::format("own-{}-{}", GetParam().name, ++count),
             .window = {{"all", 30, 200ms}},
             .priority = {{.name = "ALL", .windows = {"all"}}}};
  }
  void TearDown() override {
    if (open_) run(open_->close());
  }
  std::string key() const { return fmt::format("{{limit:{}}}:window:all", plan_.name); }
  RedisLimit limit() { return {open_->redis(), plan_, open_->clock()}; }
  Drawn draw(RedisLimit& limit, int64_t least, int64_t most) { return run(limit.draw(0, least, most)); }
  Drawn draw_all(RedisLimit& limit) {
    Drawn drawn;
    EXPECT_TRUE(eventually([&] { return (drawn = draw(limit, 30, 30)).given == 30; }));
    return drawn;
  }

  std::optional<OpenRedis> open_;
  LimitPlan plan_;
};

TEST_P(RedisLimitTest, a_stamp_from_the_future_shows_a_clock_that_went_back) {
  RedisLimit all = limit();
  const Drawn before = draw_all(all);
  std::string tomorrow(8, '\0');
  const Stamp stamp = before.stamp + 86'400'000'000;
  std::memcpy(tomorrow.data(), &stamp, sizeof stamp);
  redis::Command command = redis::Command("SETRANGE").key(key()).arg(56).arg(tomorrow);
  run(open_->redis().run(std::move(command)));
  const Drawn after = draw(all, 1, 1);
  EXPECT_EQ(after.given, 0);
  EXPECT_EQ(after.wait, 220ms);
  EXPECT_GE(draw_all(all).stamp, after.stamp + 220'000);
}

TEST_P(RedisLimitTest, what_another_server_wrote_counts_as_spent) {
  RedisLimit all = limit();
  draw_all(all);
  GetParam().replace_server_of(key());
  Drawn after;
  ASSERT_TRUE(eventually([&] {
    try {
      after = draw(all, 1, 1);
      return true;
    } catch (const EngineUnavailable&) {
      return false;
    }
  }));
  EXPECT_EQ(after.given, 0) << "the window is long over, but who knows what was given meanwhile";
  EXPECT_GT(after.wait, 100ms);
}

// The results of several callers.
struct Seen {
  bool stop = false;
  std::vector<Happened> given;
  std::vector<Happened> on_the_wire;
};

Duration up_to(Duration longest, Random& random) {
  return Duration{static_cast<int64_t>(random.below(static_cast<uint64_t>(longest.count())))};
}

// Draws at random times for random numbers, and sends each permit's request at once or late, while it is good.
Task<> call_upstream(RedisLimit& limit, Clock& clock, uint64_t seed, Seen& seen) {
  SeededRandom random(seed);
  while (!seen.stop) {
    Drawn drawn;
    try {
      const int64_t least = random.below(4) == 0 ? static_cast<int64_t>(1 + random.below(30)) : 1;
      const auto most = least + static_cast<int64_t>(random.below(20));
      drawn = co_await limit.draw(0, least, most);
    } catch (const EngineUnavailable&) {
      // The server is away: the permits may be spent, and nothing is sent.
    }
    if (drawn.given > 0) seen.given.push_back({drawn.stamp, drawn.given});
    const Instant good_until = drawn.sent + limit.plan().permit_life;
    for (int64_t i = 0; i < drawn.given; ++i) {
      const Duration dawdling = random.below(10) == 0 ? up_to(15ms, random) : 0ms;
      if (dawdling > 0ms) co_await clock.sleep_for(dawdling);
      const auto now = std::chrono::steady_clock::now();  // before the look: nothing is sent after it
      if (clock.now() >= good_until) break;
      seen.on_the_wire.push_back({now.time_since_epoch() / 1us});
    }
    const Duration pause = up_to(8ms, random);
    co_await clock.sleep_for(pause);
  }
}

// Runs a disturbance beside the callers, and lets them continue for a while afterwards.
Task<> disturb(const RedisEngine& engine, std::string key, Clock& clock, Seen& seen) {
  for (int i = 0; i < 3; ++i) {
    co_await clock.sleep_for(300ms);
    engine.wipe();
  }
  const auto replaced = std::async(std::launch::async, engine.replace_server_of, key);
  while (replaced.wait_for(0s) != std::future_status::ready) co_await clock.sleep_for(20ms);
  const size_t before = seen.given.size();
  const Deadline patience = Deadline::after(clock, 1min);
  while (seen.given.size() < before + 20 && !patience.passed(clock)) co_await clock.sleep_for(20ms);
  EXPECT_GE(seen.given.size(), before + 20) << "it goes on by itself";
  seen.stop = true;
}

TEST_P(RedisLimitTest, no_window_is_broken_by_a_wipe_or_a_server_killed_in_the_middle) {
  std::vector<std::unique_ptr<SkewedClock>> clocks;
  std::vector<std::unique_ptr<RedisLimit>> limits;
  Seen seen;
  std::vector<Task<>> tasks;
  for (int i = 0; i < 6; ++i) {
    clocks.push_back(std::make_unique<SkewedClock>(i * 7min));
    limits.push_back(std::make_unique<RedisLimit>(open_->redis(), plan_, *clocks.back()));
    tasks.push_back(call_upstream(*limits.back(), *clocks.back(), static_cast<uint64_t>(i) + 1, seen));
  }
  tasks.push_back(disturb(GetParam(), key(), open_->clock(), seen));
  for (const auto& outcome : run_all(std::move(tasks))) EXPECT_FALSE(outcome.error);
  EXPECT_EQ(broken_window(seen.given, 30, 220ms), "");
  EXPECT_EQ(broken_window(seen.on_the_wire, 30, 200ms), "");
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Redis, SharedLimitContract, testing::ValuesIn(limit_engines()),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Redis, RedisLimitTest, testing::ValuesIn(redis_engines()), redis_engine_name);

}  // namespace sluice::test
