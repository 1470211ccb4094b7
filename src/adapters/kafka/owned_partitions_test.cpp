#include "adapters/kafka/owned_partitions.h"

#include <algorithm>
#include <iterator>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "adapters/kafka/testing/mock_kafka.h"

namespace sluice::kafka {
namespace {

using messaging::Fetched;

// librdkafka's pretended brokers: a topic of one partition, of which a consumer owns it.
class OwnedPartitionsTest : public testing::Test {
 protected:
  static constexpr const char* topic = "t";

  OwnedPartitionsTest() {
    rd_kafka_mock_topic_create(kafka_.cluster(), topic, 1, 1);
    add_to(*one_);
    owned_.add(*one_);
    throw_if(rd_kafka_assign(consumer_.get(), one_.get()));
  }

  static void add_to(rd_kafka_topic_partition_list_t& list) {
    rd_kafka_topic_partition_list_add(&list, topic, 0)->offset = 0;
  }
  void publish(int count) {
    const Instance producer = kafka_.instances().producer();
    const TopicHandle to(rd_kafka_topic_new(producer.get(), topic, nullptr));
    for (int i = 0; i < count; ++i) {
      rd_kafka_produce(to.get(), 0, RD_KAFKA_MSG_F_COPY, const_cast<char*>("x"), 1, nullptr, 0, nullptr);
    }
    const Queue reports(rd_kafka_queue_get_main(producer.get()));
    while (rd_kafka_outq_len(producer.get()) > 0) {
      const Event report(rd_kafka_queue_poll(reports.get(), 10));
    }
  }
  // As when the brokers do not have a consumer's offset: it starts at the oldest message.
  void go_back() { throw_if(rd_kafka_seek_partitions(consumer_.get(), one_.get(), 10'000)); }

  Fetched take() {
    Fetched taken;
    while (taken.empty()) {
      wait_a_little();
      taken = owned_.take(100);
    }
    return taken;
  }
  std::vector<messaging::Delivery> take_messages(size_t count) {
    std::vector<messaging::Delivery> all;
    while (all.size() < count) {
      Fetched taken = take();
      EXPECT_TRUE(taken.lost.empty());
      std::ranges::move(taken.deliveries, std::back_inserter(all));
    }
    return all;
  }

 private:
  // Waits a little for librdkafka's threads.
  void wait_a_little() const { const Event event(rd_kafka_queue_poll(events_.get(), 10)); }

  MockKafka kafka_;
  asio::io_context io_;
  QueueSignal signal_{io_.get_executor(), [] {}};
  const Instance consumer_ = kafka_.instances().consumer({.group = "g", .topics = {topic}});
  const Queue events_{rd_kafka_queue_get_consumer(consumer_.get())};
  const Partitions one_ = new_partitions(1);

 protected:
  OwnedPartitions owned_{consumer_, signal_};
};

TEST_F(OwnedPartitionsTest, a_log_that_goes_back_ends_the_assignment_before_anything_of_it_comes_again) {
  publish(3);
  const auto before = take_messages(3);
  EXPECT_EQ(before.back().offset, 2);
  go_back();

  const Fetched told = take();
  EXPECT_TRUE(told.deliveries.empty());
  ASSERT_EQ(told.lost.size(), 1U);
  EXPECT_EQ(told.lost.front(), before.front().assignment);
  EXPECT_EQ(owned_.find(told.lost.front().get()), nullptr);

  const auto again = take_messages(3);
  EXPECT_EQ(again.front().offset, 0);
  EXPECT_NE(again.front().assignment, before.front().assignment);
  EXPECT_EQ(again.front().assignment->topic, topic);
}

TEST_F(OwnedPartitionsTest, what_is_committed_starts_anew_with_the_assignment) {
  publish(3);
  const auto before = take_messages(3);
  owned_.find(before.front().assignment.get())->wanted = 3;
  go_back();
  EXPECT_EQ(take().lost.size(), 1U);
  const auto again = take_messages(3);
  const OwnedPartition* owned = owned_.find(again.front().assignment.get());
  ASSERT_NE(owned, nullptr);
  EXPECT_EQ(owned->committed, 0);
  EXPECT_EQ(owned->wanted, -1);
}

}  // namespace
}  // namespace sluice::kafka
