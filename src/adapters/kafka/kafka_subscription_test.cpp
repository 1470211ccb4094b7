#include "adapters/kafka/kafka_subscription.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "adapters/kafka/testing/mock_kafka.h"
#include "runtime/system_clock.h"

namespace sluice::kafka {
namespace {

using messaging::AssignmentRef;
using messaging::Fetched;

constexpr int16_t offset_commit = 8;  // as Kafka's protocol numbers it

// librdkafka's pretended brokers: a topic of two partitions, each with a message.
class KafkaSubscriptionTest : public testing::Test {
 protected:
  using Condition = std::function<bool()>;

  struct Member {
    std::unique_ptr<KafkaSubscription> subscription;
    Fetched seen;  // altogether
  };

  KafkaSubscriptionTest() {
    rd_kafka_mock_topic_create(kafka_.cluster(), topic, 2, 1);
    const Instance producer = kafka_.instances().producer();
    const TopicHandle to(rd_kafka_topic_new(producer.get(), topic, nullptr));
    for (int partition = 0; partition < 2; ++partition) {
      rd_kafka_produce(to.get(), partition, RD_KAFKA_MSG_F_COPY, const_cast<char*>("x"), 1, nullptr, 0, nullptr);
    }
    const Queue reports(rd_kafka_queue_get_main(producer.get()));
    while (rd_kafka_outq_len(producer.get()) > 0) {
      const Event report(rd_kafka_queue_poll(reports.get(), 10));
    }
  }
  ~KafkaSubscriptionTest() override {
    for (const auto& member : members_) {
      member->seen = {};
      run(member->subscription->close());
    }
  }

  Member& join() {
    const messaging::SubscriptionConfig config{.group = "g", .topics = {topic}, .session = 30s};
    auto subscription = std::make_unique<KafkaSubscription>(kafka_.instances(), config, io_.get_executor(), clock_);
    members_.push_back(std::make_unique<Member>(std::move(subscription)));
    return *members_.back();
  }

  // All members read.
  void read_until(const Condition& done) {
    for (const auto& member : members_) start(keep_reading(*member, done));
    finish();
  }
  void run(Task<> task) {
    start(std::move(task));
    finish();
  }
  void refuse_a_commit(rd_kafka_resp_err_t error) {
    rd_kafka_mock_push_request_errors(kafka_.cluster(), offset_commit, 1, error);
  }

  SystemClock clock_;

 private:
  static constexpr const char* topic = "t";

  Task<> keep_reading(Member& member, Condition done) {
    while (!done()) {
      const Deadline deadline = Deadline::after(clock_, 100ms);
      Fetched fetched = co_await member.subscription->fetch(10, deadline);
      std::ranges::move(fetched.deliveries, std::back_inserter(member.seen.deliveries));
      std::ranges::move(fetched.leaving, std::back_inserter(member.seen.leaving));
      std::ranges::move(fetched.lost, std::back_inserter(member.seen.lost));
    }
  }
  void start(Task<> task) {
    ++running_;
    asio::co_spawn(io_, std::move(task), [this](const std::exception_ptr& error) {
      EXPECT_FALSE(error);
      --running_;
    });
  }
  void finish() {
    while (running_ > 0) io_.run_one();
  }
  MockKafka kafka_;
  asio::io_context io_;
  int running_ = 0;
  std::vector<std::unique_ptr<Member>> members_;
};

TEST_F(KafkaSubscriptionTest, what_is_asked_back_is_lost_where_a_commit_of_it_comes_too_late) {
  Member& one = join();
  read_until([&] { return one.seen.deliveries.size() == 2; });
  Member& other = join();
  read_until([&] { return !one.seen.leaving.empty(); });
  const AssignmentRef left = one.seen.leaving[0];

  refuse_a_commit(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION);
  const Instant asked = clock_.now();
  run(one.subscription->commit({{left, 1}}));
  EXPECT_LT(clock_.now() - asked, 5s) << "the group would wait for it";
  read_until([&] { return !one.seen.lost.empty() && !other.seen.deliveries.empty(); });
  EXPECT_EQ(one.seen.lost, std::vector{left});
  EXPECT_EQ(other.seen.deliveries[0].assignment->partition, left->partition);
  EXPECT_EQ(other.seen.deliveries[0].offset, 0) << "it was not committed";
}

}  // namespace
}  // namespace sluice::kafka
