// A consumer of a PretendLog in virtual time, and a diary of its handler.
#pragma once

#include <gtest/gtest.h>

#include "messaging/consumer.h"
#include "messaging/testing/pretend_log.h"
#include "runtime/virtual_clock.h"

namespace sluice::messaging {

// Keys a and c share a partition, d has another.
class ConsumerFixture : public testing::Test {
 protected:
  using Verdict = std::function<Task<Handled>(Delivery)>;

  void SetUp() override {
    Task<> declared = log.declare({{"orders", 2}, {"letters", 2}});
    run(std::move(declared));
  }
  void TearDown() override {
    verdict = nullptr;  // they refer to the test's own
    log.fails = [](std::string_view) { return false; };
    log.takes = [] { return Duration{0}; };
    for (const auto& consumer : consumers) run(consumer->stop());
    consumers.clear();
  }

  // Runs until nothing is left to do at this moment and the task has ended.
  void run(Task<> task) {
    bool ended = false;
    asio::co_spawn(io, std::move(task), [&ended](std::exception_ptr error) {
      ended = true;
      if (error) std::rethrow_exception(error);
    });
    for (int i = 0; i < 100'000 && !ended; ++i) pass(i < 10 ? 0ms : 10ms);
    ASSERT_TRUE(ended);
  }
  void pass(Duration duration) { clock.run(io, clock.now() + duration); }

  Consumer& consume() {
    const ConsumerRole role{"shop", {"orders"}, "worker-1", "letters"};
    const ConsumerParts parts{log, clock, random};
    consumers.push_back(std::make_unique<Consumer>(
        parts, config, role, [this](Delivery delivery) { return handle(std::move(delivery)); }, io.get_executor()));
    consumers.back()->start();
    return *consumers.back();
  }

  void publish(const std::string& key, const std::string& payload) {
    std::vector<Message> messages;
    messages.push_back({"orders", key, payload, {{"message-type", "Ordered"}}});
    run(publish_all(std::move(messages)));
  }

  Task<> publish_all(std::vector<Message> messages) {
    const std::vector<Published> outcomes = co_await log.publish(std::move(messages));
    for (const Published& outcome : outcomes) EXPECT_TRUE(std::holds_alternative<Position>(outcome));
  }

  Task<Handled> handle(Delivery delivery) {
    begun.emplace_back(delivery.payload);
    ++at_once;
    most_at_once = std::max(most_at_once, at_once);
    const auto leave = [this](void*) { --at_once; };
    const std::unique_ptr<void, decltype(leave)> left(this, leave);
    Handled handled;
    if (verdict) {
      Task<Handled> asked = verdict(delivery);
      handled = co_await std::move(asked);
    }
    if (handled.kind == Handled::Kind::done) done.emplace_back(delivery.payload);
    co_return handled;
  }

  // Verdicts that take no time, and one that takes some.
  static Task<Handled> say(Handled handled) { co_return handled; }
  Task<Handled> after(Duration duration, Handled handled) {
    co_await clock.sleep_for(duration);
    co_return handled;
  }
  static Task<Handled> fail_engine() {
    throw EngineUnavailable("database", "down");
    co_return Handled::done();
  }

  // How many messages of the key's partition have been committed.
  size_t committed(const std::string& key) { return log.committed("shop", "orders", partition_of(key, 2)); }
  size_t letters() const { return log.stored("letters"); }

  asio::io_context io;
  VirtualClock clock;
  SeededRandom random{1};
  PretendLog log{clock, io.get_executor()};
  ConsumerConfig config;
  std::vector<std::unique_ptr<Consumer>> consumers;
  Verdict verdict;  // without one everything is done
  std::vector<std::string> begun;
  std::vector<std::string> done;
  int at_once = 0;
  int most_at_once = 0;
};

}  // namespace sluice::messaging
