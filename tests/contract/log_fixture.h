// How the contract suites of the log get an engine, and what they do with it.
//
//   INSTANTIATE_TEST_SUITE_P(Embedded, MessageLogContract, testing::Values(embedded), port_engine_name);
//   INSTANTIATE_TEST_SUITE_P(Embedded, MessageGroupsContract, testing::Values(embedded), port_engine_name);
//   INSTANTIATE_TEST_SUITE_P(Embedded, LogViewContract, testing::Values(embedded), port_engine_name);
#pragma once

#include <algorithm>

#include "messaging/log_view.h"
#include "runtime/system_clock.h"
#include "tests/contract/log_reader.h"
#include "tests/contract/port_fixture.h"

namespace sluice::test {

// A log and the view of it. Topics have unique names, so an engine may serve the whole program; retention has to be
// looked after at least every second.
class TestedLog {
 public:
  virtual ~TestedLog() = default;
  virtual messaging::MessageLog& log() = 0;
  virtual messaging::LogView& view() = 0;
  // The log as another process has it: a client of its own where there can be one.
  virtual messaging::MessageLog& other_log() { return log(); }
  virtual Duration shortest_session() const { return 1s; }
  // The time in which a waiting fetch notices a change by its own process.
  virtual Duration notices_within() const { return 5s; }
};

inline std::string key_in(int32_t partition, int32_t partitions) {
  for (int i = 0;; ++i) {
    std::string key = fmt::format("key {}", i);
    if (messaging::partition_of(key, partitions) == partition) return key;
  }
}

class LogFixture : public PortFixture<TestedLog> {
 protected:
  using Published = messaging::Published;
  using Position = messaging::Position;
  using Message = messaging::Message;
  using Topic = messaging::Topic;

  void TearDown() override {
    for (const auto& reader : readers_) run(reader->leave());
    readers_.clear();
    PortFixture::TearDown();
  }

  messaging::MessageLog& log() { return port().log(); }
  messaging::LogView& view() { return port().view(); }

  std::string new_topic(int32_t partitions = 4, Duration retention = 1h) {
    Topic topic{unique("topic"), partitions, retention};
    run(log().declare({topic}));
    return topic.name;
  }

  Position publish(Message message) { return run(publish_one(log(), std::move(message))); }
  // Payloads "0", "1", ... with one key.
  std::vector<Position> publish_numbers(const std::string& topic, const std::string& key, int count) {
    std::vector<Message> messages;
    for (int i = 0; i < count; ++i) messages.push_back({topic, key, std::to_string(i)});
    std::vector<Position> positions;
    for (const Published& one : run(log().publish(std::move(messages)))) positions.push_back(std::get<Position>(one));
    return positions;
  }

  // Lives until the end of the test.
  LogReader& reader(const std::string& group, const std::vector<std::string>& topics, LogReader::Habits habits = {}) {
    return reader_at(log(), group, topics, habits);
  }
  LogReader& reader_at(messaging::MessageLog& log, const std::string& group, const std::vector<std::string>& topics,
                       LogReader::Habits habits = {}) {
    auto subscription =
        log.subscribe({.group = group, .topics = topics, .session = habits.session}, io_.get_executor());
    readers_.push_back(std::make_unique<LogReader>(std::move(subscription), habits, clock_, history_));
    return *readers_.back();
  }

  using Condition = std::function<bool()>;

  // Everybody reads, and `besides` runs, until `done`. False: that took longer than a minute, which no engine needs.
  [[nodiscard]] bool read_until(const std::vector<LogReader*>& readers, const Condition& done,
                                std::vector<Task<>> besides = {}) {
    const Deadline limit = Deadline::after(clock_, 1min);
    for (LogReader* each : readers) besides.push_back(keep_reading(*each, done, limit));
    for (const auto& outcome : run_all(std::move(besides))) {
      if (outcome.error) std::rethrow_exception(outcome.error);
    }
    return done();
  }
  [[nodiscard]] bool read_until_seen(const std::vector<LogReader*>& readers, size_t messages) {
    return read_until(readers, [this, messages] { return history_.seen().size() >= messages; });
  }
  // Two more rounds, in which nothing may come that was not expected.
  void read_what_else_there_is(LogReader& reader) {
    for (int round = 0; round < 2; ++round) run(reader.read());
  }

  // Asks again and again; false when it still does not hold after `limit`. The last look begins after that, however
  // long this machine stood still.
  [[nodiscard]] bool holds_within(Duration limit, const Condition& holds) {
    const Deadline deadline = Deadline::after(clock_, limit);
    while (true) {
      const bool last = deadline.passed(clock_);
      if (holds()) return true;
      if (last) return false;
      run(clock_.sleep_for(20ms));
    }
  }

  SystemClock clock_;
  LogHistory history_;

 private:
  static Task<> keep_reading(LogReader& reader, Condition done, Deadline limit) {
    SystemClock clock;
    while (!done() && !limit.passed(clock)) co_await reader.read();
  }

  std::vector<std::unique_ptr<LogReader>> readers_;
};

}  // namespace sluice::test
