// How fast a limit decides: in memory, and on Redis beside a bare loop that sends the same script over one connection.
//
//   bench_limit_speed [ROUNDS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <hiredis/hiredis.h>

#include "adapters/redis/client/redis.h"
#include "adapters/redis/coordination/limit_scripts.h"
#include "adapters/redis/coordination/redis_limit.h"
#include "base/check.h"
#include "coordination/limit_state.h"
#include "runtime/system_clock.h"
#include "tests/support/redis_server.h"

namespace sluice {
namespace {

using coordination::Drawn;
using coordination::LimitPlan;
using coordination::LimitState;
using coordination::Stamp;

constexpr int in_flight = 64;
constexpr int draws = 40'000;
constexpr int batch = 50;

LimitPlan two_windows(int64_t most, Duration per) {
  return {.name = "bench",
          .permit_life = 1us,
          .window = {{"global", most, per}, {"low", most * 7 / 9, per}},
          .priority = {{.name = "LOW", .windows = {"global", "low"}}}};
}

double seconds_since(const Clock& clock, Instant start) {
  return std::chrono::duration<double>(clock.now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Decisions a second on one thread, of which every other one is given.
double in_memory(int64_t most) {
  const SystemClock clock;
  const auto plan = std::make_shared<const LimitPlan>(two_windows(most, Duration{most}));
  Stamp now = 1'800'000'000'000'000;
  LimitState state(plan, now);
  const int64_t step = plan->span(plan->window[0]).count() / most + 1;
  constexpr int64_t decisions = 20'000'000;
  int64_t given = 0;
  const Instant start = clock.now();
  for (int64_t i = 0; i < decisions; ++i) {
    now += i % 2 * step;
    given += state.decide(0, 1, 1, now).given;
  }
  const double result = static_cast<double>(decisions) / seconds_since(clock, start);
  check(given > decisions / 4, "the bench gives permits");
  return result;
}

Task<> draw_often(coordination::SharedLimit& limit, int64_t most, int count, int64_t& given) {
  for (int i = 0; i < count; ++i) {
    const Drawn drawn = co_await limit.draw(0, 1, most);
    given += drawn.given;
  }
}

// Permits and decisions a second through the client, of windows that always have some.
struct Rate {
  double decisions = 0;
  double permits = 0;
};
Rate through_client(const std::string& url, int64_t most) {
  SystemClock clock;
  asio::io_context io;
  redis::Redis redis({.url = url}, io.get_executor(), clock);
  redis::RedisLimit limit(redis, two_windows(9000, 1ms), clock);
  int64_t given = 0;
  int running = in_flight;
  const Instant start = clock.now();
  for (int i = 0; i < in_flight; ++i) {
    asio::co_spawn(io, draw_often(limit, most, draws / in_flight, given), [&running](const std::exception_ptr& error) {
      check(!error, "a draw failed");
      --running;
    });
  }
  while (running > 0) io.run_one();
  const double seconds = seconds_since(clock, start);
  asio::co_spawn(io, redis.close(), [](const std::exception_ptr&) {});
  io.run();
  return {draws / seconds, static_cast<double>(given) / seconds};
}

// The same commands, `in_flight` of them at a time, with nothing around them.
double bare_loop(uint16_t port, int64_t most) {
  const SystemClock clock;
  redisContext* connection = redisConnect("127.0.0.1", port);
  check(connection != nullptr && connection->err == 0, "connecting");
  const std::string& text = redis::draw_permits.text();
  freeReplyObject(redisCommand(connection, "SCRIPT LOAD %b", text.data(), text.size()));
  const std::string number = std::to_string(most);
  const std::vector<const char*> words{"EVALSHA",
                                       redis::draw_permits.sha1().c_str(),
                                       "2",
                                       "{limit:bare}:window:global",
                                       "{limit:bare}:window:low",
                                       "1",
                                       number.c_str(),
                                       "9000",
                                       "1",
                                       "1001",
                                       "7000",
                                       "1",
                                       "1001",
                                       "0123456789012345678901234567890123456789"};
  const Instant start = clock.now();
  for (int sent = 0; sent < draws; sent += in_flight) {
    for (int i = 0; i < in_flight; ++i) {
      redisAppendCommandArgv(connection, static_cast<int>(words.size()), const_cast<const char**>(words.data()),
                             nullptr);
    }
    for (int i = 0; i < in_flight; ++i) {
      redisReply* reply = nullptr;
      check(redisGetReply(connection, reinterpret_cast<void**>(&reply)) == REDIS_OK, "reading a reply");
      check(reply->type == REDIS_REPLY_ARRAY, "the script's answer");
      freeReplyObject(reply);
    }
  }
  const double result = draws / seconds_since(clock, start);
  redisFree(connection);
  return result;
}

bool measure_memory() {
  double slowest = 1e12;
  double fastest = 0;
  for (const int64_t most : {100, 1000, 10'000}) {
    const double rate = std::max(in_memory(most), in_memory(most));
    std::printf("memory, N = %5ld: %6.1f million decisions/s\n", static_cast<long>(most), rate / 1e6);
    slowest = std::min(slowest, rate);
    fastest = std::max(fastest, rate);
  }
  std::printf("memory: slowest %.1f million/s (at least 10), slowest to fastest %.2f (flat: at least 0.80)\n",
              slowest / 1e6, slowest / fastest);
  return slowest >= 10e6 && slowest >= 0.8 * fastest;
}

bool measure_redis(int rounds) {
  const test::RedisServer server;
  std::vector<double> ours;
  std::vector<double> bare;
  std::vector<double> single;
  std::vector<double> batched;
  for (int round = 1; round <= rounds; ++round) {
    bare.push_back(bare_loop(server.port(), 1));
    const Rate one = through_client(server.url(), 1);
    const Rate many = through_client(server.url(), batch);
    ours.push_back(one.decisions);
    single.push_back(one.permits);
    batched.push_back(many.permits);
    std::printf("redis, round %d: bare %6.0f/s, ours %6.0f/s; permits one by one %6.0f/s, by %d %7.0f/s\n", round,
                bare.back(), ours.back(), single.back(), batch, batched.back());
    std::fflush(stdout);
  }
  const double ratio = median(ours) / median(bare);
  const double gain = median(batched) / median(single);
  std::printf("redis: ours to bare %.2f (at least 0.80), batched to single %.1f (at least 5)\n", ratio, gain);
  return ratio >= 0.8 && gain >= 5;
}

}  // namespace
}  // namespace sluice

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 5;
  const bool memory = sluice::measure_memory();
  const bool redis = sluice::measure_redis(rounds);
  return memory && redis ? 0 : 1;
}
