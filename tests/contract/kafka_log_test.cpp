#include "adapters/kafka/kafka_log.h"

#include <gtest/gtest.h>

#include "runtime/system_clock.h"
#include "tests/contract/task_fixture.h"
#include "tests/support/kafka_broker.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

using messaging::Message;

class KafkaLogTest : public TaskFixture {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(KafkaBroker::why_missing());
    static KafkaBroker broker;
    log_ =
        std::make_unique<kafka::KafkaLog>(kafka::KafkaConfig{.brokers = broker.address()}, io_.get_executor(), clock_);
  }
  void TearDown() override {
    if (log_) run(log_->close());
    log_.reset();
  }

  SystemClock clock_;
  std::unique_ptr<kafka::KafkaLog> log_;
};

TEST_F(KafkaLogTest, publishes_and_delivers) {
  run(log_->declare({{.name = "orders", .partitions = 4}}));
  std::vector<Message> messages;
  for (int i = 0; i < 100; ++i) {
    messages.push_back(
        {"orders", fmt::format("key-{}", i % 7), fmt::format("payload {}", i), {{"message-type", "Made"}}});
  }
  const auto outcomes = run(log_->publish(messages));
  for (const auto& outcome : outcomes) EXPECT_TRUE(std::holds_alternative<messaging::Position>(outcome));
  auto subscription = log_->subscribe({.group = "g", .topics = {"orders"}}, io_.get_executor());
  std::vector<messaging::Delivery> all;
  std::map<messaging::AssignmentRef, int64_t> next;
  while (all.size() < 100) {
    auto fetched = run(subscription->fetch(1000, Deadline::after(clock_, 10s)));
    ASSERT_FALSE(fetched.empty());
    for (auto& delivery : fetched.deliveries) {
      EXPECT_EQ(delivery.header("message-type"), "Made");
      next[delivery.assignment] = delivery.offset + 1;
      all.push_back(delivery);
    }
  }
  std::vector<messaging::Progress> progress;
  for (const auto& [assignment, offset] : next) progress.push_back({assignment, offset});
  run(subscription->commit(progress));
  for (const auto& view : run(log_->groups())) {
    EXPECT_EQ(view.lag, 0) << view.topic << view.partition << view.member;
    EXPECT_NE(view.member, "");
  }
  all.clear();
  run(subscription->close());
  const auto topics = run(log_->topics());
  EXPECT_EQ(topics.size(), 1U);
  EXPECT_EQ(topics.at(0).topic, (messaging::Topic{.name = "orders", .partitions = 4}));
  size_t seen = 0;
  for (const auto& bounds : topics.at(0).partitions) {
    seen += run(log_->read("orders", bounds.partition, 0, 1000)).size();
  }
  EXPECT_EQ(seen, 100U);
}

}  // namespace
}  // namespace sluice::test
