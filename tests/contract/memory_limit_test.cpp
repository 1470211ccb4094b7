#include "adapters/memory/memory_limit.h"

#include <thread>

#include "tests/contract/process_limits.h"

namespace sluice::test {
namespace {

std::unique_ptr<coordination::SharedLimit> memory_limit(coordination::LimitPlan plan, Clock& clock) {
  return std::make_unique<memory::MemoryLimit>(std::move(plan), clock);
}

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
                             "memory",
                             [](asio::io_context&) { return std::make_unique<ProcessLimits>(memory_limit); }}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace sluice::test
