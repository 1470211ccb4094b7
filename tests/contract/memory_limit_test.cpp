#include "adapters/memory/memory_limit.h"

#include <map>
#include <thread>

#include "runtime/system_clock.h"
#include "tests/contract/shared_limit_suite.h"

namespace sluice::test {
namespace {

// Instances of a process share one object.
class OpenMemoryLimits : public OpenLimits {
 public:
  coordination::SharedLimit& instance(coordination::LimitPlan plan) override {
    const auto key = std::pair(plan.name, plan.window.back().most);
    std::unique_ptr<memory::MemoryLimit>& limit = limits_[key];
    if (!limit) limit = std::make_unique<memory::MemoryLimit>(std::move(plan), clock_);
    return *limit;
  }
  Task<> lose(coordination::LimitPlan plan) override {
    limits_.erase({plan.name, plan.window.back().most});
    co_return;
  }

 private:
  SystemClock clock_;
  std::map<std::pair<std::string, int64_t>, std::unique_ptr<memory::MemoryLimit>> limits_;
};

// On a thread of its own.
void draw_on_thread(coordination::SharedLimit& limit, coordination::Stamp end, contract::Draws& draws) {
  asio::io_context io;
  asio::co_spawn(io, contract::draw_often(limit, 0, 3, end, draws, 300),
                 [](const std::exception_ptr& error) { EXPECT_FALSE(error); });
  io.run();
}

TEST(MemoryLimit, threads_share_it) {
  SystemClock clock;
  memory::MemoryLimit limit({.name = "shared",
                             .permit_life = 1ms,
                             .window = {{"all", 500, 20ms}},
                             .priority = {{.name = "ALL", .windows = {"all"}}}},
                            clock);
  const auto end = clock.now().time_since_epoch() / 1us + 300'000;
  std::vector<contract::Draws> draws(4);
  std::vector<std::thread> threads;
  for (auto& mine : draws) threads.emplace_back(draw_on_thread, std::ref(limit), end, std::ref(mine));
  for (std::thread& thread : threads) thread.join();
  std::vector<Happened> all;
  for (const auto& mine : draws) all.insert(all.end(), mine.given.begin(), mine.given.end());
  EXPECT_EQ(broken_window(all, 500, 21ms), "");
  EXPECT_GT(total(all), 1000);
}

INSTANTIATE_TEST_SUITE_P(Memory, SharedLimitContract,
                         testing::Values(LimitEngine{
                             "memory", [](asio::io_context&) { return std::make_unique<OpenMemoryLimits>(); }}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace sluice::test
