// What comes through a limit of 450 a second on Redis that is offered far more, by several limiters.
//
// Every window is looked at: 450 of all and 350 of LOW, by the engine's stamps and as the upstream would see them. On
// average at least 0.97 of what the window and the life of a permit allow come through, and HIGH gets its 100 while LOW
// floods.
//
//   bench_limit_rates [SECONDS]
#include <cstdio>
#include <cstdlib>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "adapters/redis/client/redis.h"
#include "adapters/redis/coordination/redis_limit.h"
#include "base/check.h"
#include "coordination/limiter.h"
#include "runtime/system_clock.h"
#include "tests/support/redis_server.h"
#include "tests/support/window_check.h"

namespace sluice {
namespace {

using coordination::Drawn;
using coordination::Limiter;
using coordination::LimitPlan;
using coordination::Permit;
using test::Happened;

constexpr size_t high = 0;
constexpr size_t low = 1;
constexpr int limiters = 3;

LimitPlan model_plan(std::string name) {
  return {.name = std::move(name),
          .window = {{"global", 450, 1s}, {"low", 350, 1s}},
          .priority = {{.name = "HIGH", .windows = {"global"}}, {.name = "LOW", .windows = {"global", "low"}}}};
}

// Permits by the engine's stamps, and the times of their requests on the wire.
struct Seen {
  std::vector<Happened> given[2];
  std::vector<Happened> wire[2];
};

// A limit that records its draws.
class WatchedLimit : public coordination::SharedLimit {
 public:
  WatchedLimit(SharedLimit& limit, Seen& seen) : limit_(limit), seen_(seen) {}
  const LimitPlan& plan() const override { return limit_.plan(); }
  Task<Drawn> draw(size_t priority, int64_t least, int64_t most) override {
    const Drawn drawn = co_await limit_.draw(priority, least, most);
    if (drawn.given > 0) seen_.given[priority].push_back({drawn.stamp, drawn.given});
    co_return drawn;
  }
  Task<> deposit(size_t priority, int64_t permits, Duration lasts) override {
    return limit_.deposit(priority, permits, lasts);
  }
  Task<std::vector<int64_t>> remaining() override { return limit_.remaining(); }

 private:
  SharedLimit& limit_;
  Seen& seen_;
};

Task<> call(Limiter& limiter, Clock& clock, size_t priority, Seen& seen) {
  const Deadline deadline = Deadline::after(clock, 2s);
  const Result<Permit, Duration> permit = co_await limiter.acquire(priority, deadline);
  if (permit && permit->good(clock)) {
    seen.wire[priority].push_back({clock.now().time_since_epoch() / 1us});
  }
}

// Callers that arrive evenly, independent of earlier ones.
Task<> offer(Limiter& limiter, Clock& clock, TaskScope& scope, size_t priority, double per_second, Instant end,
             Seen& seen) {
  const Instant start = clock.now();
  for (int64_t i = 0; clock.now() < end; ++i) {
    const auto next = start + std::chrono::nanoseconds(static_cast<int64_t>(static_cast<double>(i) / per_second * 1e9));
    if (next > clock.now()) co_await clock.sleep_until(next);
    scope.spawn("caller", call(limiter, clock, priority, seen));
  }
}

Seen run(const std::string& url, const std::string& name, double highs, double lows, Duration time) {
  SystemClock clock;
  asio::io_context io;
  SeededRandom random{1};
  Seen seen;
  redis::Redis redis({.url = url}, io.get_executor(), clock);
  redis::RedisLimit limit(redis, model_plan(name), clock);
  WatchedLimit watched(limit, seen);
  TaskScope scope(io.get_executor());
  std::vector<std::unique_ptr<Limiter>> all;
  const Instant end = clock.now() + time;
  for (int i = 0; i < limiters; ++i) {
    all.push_back(std::make_unique<Limiter>(Limiter::Parts{watched, nullptr, clock, random}, io.get_executor()));
    all.back()->start(scope);
    // The first asks for HIGH and the others for LOW: none of them knows of the others' callers.
    if (i == 0 && highs > 0) scope.spawn("high", offer(*all.back(), clock, scope, high, highs, end, seen));
    if (i > 0 && lows > 0) scope.spawn("low", offer(*all.back(), clock, scope, low, lows / (limiters - 1), end, seen));
  }
  while (clock.now() < end) io.run_one_for(10ms);
  asio::co_spawn(io, scope.close(), [](const std::exception_ptr&) {});
  asio::co_spawn(io, redis.close(), [](const std::exception_ptr&) {});
  io.run();
  return seen;
}

std::vector<Happened> both(const std::vector<Happened> (&lists)[2]) {
  std::vector<Happened> all = lists[high];
  all.insert(all.end(), lists[low].begin(), lists[low].end());
  std::ranges::sort(all, {}, &Happened::at);
  return all;
}

// Permits come in bursts, a window apart: the permits before the last burst, over the time from the first to it.
double average(const std::vector<Happened>& given) {
  const int64_t last = given.back().at;
  int64_t before = 0;
  for (const Happened& one : given) {
    if (one.at < last) before += one.count;
  }
  return static_cast<double>(before) / static_cast<double>(last - given.front().at) * 1e6;
}

bool windows_hold(const Seen& seen) {
  bool hold = true;
  const auto look = [&hold](const std::string& broken) {
    if (broken.empty()) return;
    std::printf("BROKEN: %s\n", broken.c_str());
    hold = false;
  };
  look(test::broken_window(both(seen.given), 450, 1020ms));
  look(test::broken_window(both(seen.wire), 450, 1s));
  look(test::broken_window(seen.given[low], 350, 1020ms));
  look(test::broken_window(seen.wire[low], 350, 1s));
  return hold;
}

// The rate must reach `share` of `allowed`.
bool report(const char* what, double rate, double allowed, double share) {
  std::printf("%-40s %6.1f/s, %.3f of the %.1f that W + D allows (at least %.2f)\n", what, rate, rate / allowed,
              allowed, share);
  return rate >= share * allowed;
}

}  // namespace
}  // namespace sluice

int main(int count, char** arguments) {
  using namespace sluice;
  const Duration time = std::chrono::seconds(count > 1 ? std::atoi(arguments[1]) : 8);
  const test::RedisServer server;
  const Seen offered = run(server.url(), "offered", 2000, 0, time);
  bool good =
      windows_hold(offered) && report("HIGH alone, 2,000/s offered", average(offered.given[high]), 450 / 1.02, 0.97);
  const Seen lows = run(server.url(), "lows", 0, 2000, time);
  good = windows_hold(lows) && report("LOW alone, 2,000/s offered", average(lows.given[low]), 350 / 1.02, 0.97) && good;
  const Seen flood = run(server.url(), "flood", 2000, 2000, time);
  good = windows_hold(flood) && good;
  good = report("HIGH, 2,000/s offered while LOW floods", average(flood.given[high]), 100 / 1.02, 0.97) && good;
  return good ? 0 : 1;
}
