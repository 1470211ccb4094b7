// bench_redis: what sharing a connection costs, and brings.
//
// 64 callers run a small script, each waiting for its reply. Ours: Redis over one connection. Yardsticks over one
// connection each: a bare loop that sends 64 EVALSHA at once and reads 64 replies, the most one connection can do; and
// a bare loop of one EVALSHA after the other. Same private Redis, in rotation; medians and their ratios.
#include <cstdio>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include "adapters/redis/client/redis.h"
#include "runtime/io_threads.h"
#include "runtime/system_clock.h"
#include "tests/support/redis_server.h"

namespace sluice {
namespace {

using asio::ip::tcp;
using SteadyClock = std::chrono::steady_clock;

constexpr int callers = 64;
constexpr int rounds = 5;
constexpr auto length = 2s;

const redis::Script script{R"(
  local n = redis.call('INCR', KEYS[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return n
)"};

redis::Command one_call() {
  return redis::Command(script, {"bench"}).arg(60000);
}

void die_of_errors(const std::exception_ptr& error) {
  if (error) std::rethrow_exception(error);
}

double rate(int64_t count, SteadyClock::time_point start) {
  return static_cast<double>(count) / std::chrono::duration<double>(SteadyClock::now() - start).count();
}

Task<> call_until(redis::Redis& redis, SteadyClock::time_point end, int64_t& count) {
  while (SteadyClock::now() < end) {
    redis::Command command = one_call();
    co_await redis.run(std::move(command));
    ++count;
  }
}

double ours(redis::Redis& redis) {
  asio::io_context io;
  int64_t count = 0;
  const auto start = SteadyClock::now();
  for (int i = 0; i < callers; ++i) asio::co_spawn(io, call_until(redis, start + length, count), die_of_errors);
  const auto work = asio::make_work_guard(io);
  while (SteadyClock::now() < start + length) io.run_one_for(length);
  io.run_for(100ms);
  return rate(count, start);
}

// `depth` calls at once, again and again, over a blocking socket.
double bare(uint16_t port, int depth) {
  asio::io_context io;
  tcp::socket socket(io);
  socket.connect({asio::ip::address_v4::loopback(), port});
  socket.set_option(tcp::no_delay(true));
  std::string calls;
  for (int i = 0; i < depth; ++i) one_call().encode(calls, redis::Command::ScriptBy::hash);
  std::array<char, 16 * 1024> replies;
  int64_t count = 0;
  const auto start = SteadyClock::now();
  while (SteadyClock::now() < start + length) {
    asio::write(socket, asio::buffer(calls));
    for (int answered = 0; answered < depth;) {
      const size_t bytes = socket.read_some(asio::buffer(replies));
      answered += static_cast<int>(std::count(replies.begin(), replies.begin() + static_cast<ptrdiff_t>(bytes), '\n'));
    }
    count += depth;
  }
  return rate(count, start);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void run() {
  const test::RedisServer server;
  SystemClock clock;
  IoThreads thread(1);
  thread.start();
  redis::Redis redis({.url = server.url()}, thread.executor(0), clock);
  std::vector<double> our_rates, pipelined_rates, single_rates;
  for (int round = 0; round < rounds; ++round) {
    our_rates.push_back(ours(redis));
    pipelined_rates.push_back(bare(server.port(), callers));
    single_rates.push_back(bare(server.port(), 1));
  }
  asio::co_spawn(thread.executor(0), redis.close(), asio::use_future).get();

  fmt::print("{} callers of a small script over one connection (medians of {} rounds in rotation)\n", callers, rounds);
  fmt::print("  sluice                        {:8.0f} calls/s\n", median(our_rates));
  fmt::print("  bare EVALSHA, 64 at once      {:8.0f} calls/s, ratio {:.2f}\n", median(pipelined_rates),
             median(our_rates) / median(pipelined_rates));
  fmt::print("  bare EVALSHA, one by one      {:8.0f} calls/s, ratio {:.2f}\n", median(single_rates),
             median(our_rates) / median(single_rates));
}

}  // namespace
}  // namespace sluice

int main() {
  try {
    sluice::run();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_redis: {}\n", error.what());
    return 1;
  }
}
