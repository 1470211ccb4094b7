// Consumes a topic and says so: a line on standard output means that a handler began or ended. Ended by log_kill_test.
//
//   log_consumer embedded FOLDER | redis URL | kafka BROKERS
#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/check.h"
#include "messaging/consumer.h"
#include "runtime/system_clock.h"
#include "tests/chaos/killed_log.h"

namespace sluice::test {
namespace {

void say(const std::string& line) {
  const std::string whole = line + "\n";
  check(write(STDOUT_FILENO, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size()), "telling");
}

Task<messaging::Handled> handle(Clock& clock, messaging::Delivery delivery) {
  const std::string message = fmt::format("{} {}", delivery.key, delivery.payload);
  say("begin " + message);
  co_await clock.sleep_for(2ms);
  say("end " + message);
  co_return messaging::Handled::done();
}

Task<> begin(messaging::MessageLog& log, messaging::Consumer& consumer) {
  std::vector<messaging::Topic> topics{{killed_topic, killed_partitions}, {"dead-letters", 1}};
  co_await log.declare(std::move(topics));
  consumer.start();
  say("ready");
}

void consume_until_killed(const std::string& engine, const std::string& place) {
  SystemClock clock;
  SeededRandom random(static_cast<uint64_t>(getpid()));
  asio::io_context io;
  const auto log = open_killed_log(engine, place, io, clock, random);
  messaging::ConsumerConfig config;
  config.commit_every = 50ms;
  config.session = killed_session;
  const messaging::ConsumerRole role{"killed", {killed_topic}, "worker"};
  messaging::Consumer consumer(
      {log->log(), clock, random}, config, role,
      [&clock](messaging::Delivery delivery) { return handle(clock, std::move(delivery)); }, io.get_executor());
  asio::co_spawn(io, begin(log->log(), consumer), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  });
  io.run();
}

}  // namespace
}  // namespace sluice::test

int main(int, char** arguments) {
  sluice::test::consume_until_killed(arguments[1], arguments[2]);
}
