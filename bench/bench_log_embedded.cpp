// 64 publishers of the embedded log, each waiting for its message to be durable, against a bare loop that commits 64
// inserts of as many bytes at a time. In rotation, a fresh file each round; the ratio of the medians is the result. How
// fast one group reads it all back, with its commits, is told besides.
//
//   bench_log_embedded [ROUNDS] [COMMITS]
#include <cstdio>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "adapters/sqlite/log/embedded_log.h"
#include "base/check.h"
#include "bench/bare_commits.h"
#include "runtime/system_clock.h"

namespace sluice {
namespace {

constexpr int publishers = bare::rows_per_commit;
const std::string topic = "notes";

Task<> publish_notes(messaging::MessageLog& log, std::string key, int count) {
  for (int i = 0; i < count; ++i) {
    messaging::Message message{topic, key, bare::body};
    co_await publish_one(log, std::move(message));
  }
}

Task<> read_notes(messaging::MessageLog& log, Clock& clock, int count) {
  const Executor executor = co_await asio::this_coro::executor;
  messaging::SubscriptionConfig config{.group = "readers", .topics = {topic}};
  const auto subscription = log.subscribe(std::move(config), executor);
  for (int seen = 0; seen < count;) {
    const Deadline deadline = Deadline::after(clock, 10s);
    const messaging::Fetched fetched = co_await subscription->fetch(1'000, deadline);
    check(!fetched.deliveries.empty(), "a message is missing");
    seen += static_cast<int>(fetched.deliveries.size());
    std::map<messaging::AssignmentRef, int64_t> next;
    for (const messaging::Delivery& each : fetched.deliveries) next[each.assignment] = each.offset + 1;
    std::vector<messaging::Progress> progress;
    for (const auto& [assignment, offset] : next) progress.push_back({assignment, offset});
    co_await subscription->commit(std::move(progress));
  }
  co_await subscription->close();
}

Task<> declare_notes(messaging::MessageLog& log) {
  std::vector<messaging::Topic> topics{{topic, 12, 1h}};
  co_await log.declare(std::move(topics));
}

void run(asio::io_context& io, std::vector<Task<>> tasks) {
  for (Task<>& task : tasks) {
    asio::co_spawn(io, std::move(task), [](const std::exception_ptr& error) { check(!error, "a message failed"); });
  }
  io.restart();
  io.run();
}

void run(asio::io_context& io, Task<> task) {
  std::vector<Task<>> one;
  one.push_back(std::move(task));
  run(io, std::move(one));
}

std::vector<double> read_rates;

double publish_and_read(const std::filesystem::path& folder, int commits) {
  asio::io_context io;
  SystemClock clock;
  sqlite::SqliteDatabase database({.folder = folder}, clock);
  sqlite::EmbeddedLog log(database, clock);
  run(io, declare_notes(log));
  std::vector<Task<>> publishing;
  for (int i = 0; i < publishers; ++i) publishing.push_back(publish_notes(log, fmt::format("key {}", i), commits));
  const Instant start = clock.now();
  run(io, std::move(publishing));
  const double published = bare::rate(clock, start, commits * publishers);
  const Instant reading = clock.now();
  run(io, read_notes(log, clock, commits * publishers));
  read_rates.push_back(bare::rate(clock, reading, commits * publishers));
  return published;
}

}  // namespace
}  // namespace sluice

int main(int count, char** arguments) {
  using namespace sluice;
  const int code = bare::against_bare_loop(count, arguments, "publishers", publish_and_read);
  std::printf("read back with commits: %.0f messages/s\n", bare::median(read_rates));
  return code;
}
