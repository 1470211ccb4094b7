// The fixture of message_groups_contract.cpp, for the engines that run it.
#pragma once

#include "tests/contract/log_fixture.h"

namespace sluice::test {

class MessageGroupsContract : public LogFixture {
 protected:
  // Publishes the next two numbers of each key until `done`, never far ahead of the readers.
  Task<> keep_publishing(std::string topic, Condition done) {
    const Deadline limit = Deadline::after(clock_, 1min);
    while (!done() && !limit.passed(clock_)) {
      co_await publish_round(topic);
      while (!done() && !limit.passed(clock_) && count_ > history_.seen().size() + 500) co_await clock_.sleep_for(5ms);
    }
  }
  Task<> publish_round(std::string topic) {
    std::vector<Message> messages;
    for (int i = 0; i < 40; ++i) {
      std::string key = fmt::format("key {}", i % 20);
      std::string number = std::to_string(published_[key]++);
      messages.push_back({topic, std::move(key), std::move(number)});
    }
    count_ += messages.size();
    const std::vector<Published> outcomes = co_await log().publish(std::move(messages));
    for (const Published& each : outcomes) EXPECT_TRUE(std::holds_alternative<Position>(each));
  }
  std::vector<Task<>> publishing(const std::string& topic, const Condition& done) {
    std::vector<Task<>> tasks;
    tasks.push_back(keep_publishing(topic, done));
    return tasks;
  }
  Task<> publish_ten(std::string topic, std::string key) {
    for (int i = 0; i < 10; ++i) {
      Message message{topic, key, std::to_string(i)};
      co_await publish_one(log(), std::move(message));
    }
  }
  Task<> publish_a_little_later(Message message) {
    co_await clock_.sleep_for(50ms);
    co_await publish_one(log(), std::move(message));
  }
  static Task<> wait_for_a_minute(LogReader& reader) { co_await reader.read(1min); }
  // Reads until it is told that `assignment` is lost.
  static Task<> read_until_lost(LogReader& reader, messaging::AssignmentRef assignment, bool& told) {
    for (int round = 0; round < 150 && !told; ++round) {
      const messaging::Fetched fetched = co_await reader.read();
      told = std::ranges::find(fetched.lost, assignment) != fetched.lost.end();
    }
  }
  Task<> resume_a_little_later(LogReader& reader, messaging::AssignmentRef paused, Instant& resumed) {
    co_await clock_.sleep_for(300ms);
    resumed = clock_.now();
    reader.subscription().resume(paused);
  }
  Task<> read_one_fetch(LogReader& reader, Duration patience, Instant& ended) {
    co_await reader.read(patience);
    ended = clock_.now();
  }
  bool all_seen() const { return history_.unbroken_runs() == published_; }

  static std::vector<std::string> numbers(int from, int to) {
    std::vector<std::string> all;
    for (int i = from; i < to; ++i) all.push_back(std::to_string(i));
    return all;
  }

  std::map<std::string, int> published_;
  size_t count_ = 0;
};

}  // namespace sluice::test
