#include "adapters/redis/log/redis_log.h"

#include "adapters/redis/log/redis_log_keys.h"
#include "tests/contract/consumer_suite.h"
#include "tests/contract/log_view_suite.h"
#include "tests/contract/message_log_suite.h"
#include "tests/contract/redis_log_engines.h"

namespace sluice::test {

INSTANTIATE_TEST_SUITE_P(Redis, MessageLogContract, testing::ValuesIn(redis_logs()), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, MessageGroupsContract, testing::ValuesIn(redis_logs()), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, LogViewContract, testing::ValuesIn(redis_logs()), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, ConsumerContract, testing::ValuesIn(redis_logs()), port_engine_name);

namespace {

std::vector<PortEngine<TestedLog>> threaded_logs() {
  std::vector<PortEngine<TestedLog>> all;
  for (const RedisEngine& engine : redis_engines()) {
    if (engine.name != "redis") continue;
    all.push_back({.name = "redis_on_a_thread", .open = [engine](asio::io_context& io) {
                     return std::make_unique<OpenThreadedRedisLog>(engine, io);
                   }});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Threaded, MessageGroupsContract, testing::ValuesIn(threaded_logs()), port_engine_name);

class RedisLogTest : public LogFixture {
 protected:
  redis::RedisLog& redis_log() { return dynamic_cast<redis::RedisLog&>(log()); }

  // Fetches until `enough`, and neither commits nor lets go.
  static Task<> fetch_until(messaging::Subscription& subscription, messaging::Fetched& all, Condition enough) {
    SystemClock clock;
    const Deadline limit = Deadline::after(clock, 1min);
    while (!limit.passed(clock) && !enough()) {
      const messaging::Fetched fetched = co_await subscription.fetch(10, Deadline::after(clock, 50ms));
      std::ranges::copy(fetched.deliveries, std::back_inserter(all.deliveries));
      std::ranges::copy(fetched.leaving, std::back_inserter(all.leaving));
      std::ranges::copy(fetched.lost, std::back_inserter(all.lost));
    }
  }
};

TEST_P(RedisLogTest, a_large_call_is_stored_in_its_order) {
  const std::string topic = new_topic(1);
  const std::vector<Position> positions = publish_numbers(topic, "key", 5'000);
  EXPECT_TRUE(std::ranges::is_sorted(positions, std::ranges::less_equal{}, &Position::offset));
  LogReader& reader = this->reader(unique("group"), {topic}, {.most = 1'000});
  ASSERT_TRUE(read_until_seen({&reader}, 5'000));
  EXPECT_EQ(history_.unbroken_runs().at("key"), 5'000);
}

TEST_P(RedisLogTest, a_fetch_brings_a_bounded_number_of_bytes) {
  const std::string topic = new_topic(1);
  for (int i = 0; i < 30; ++i) publish({topic, "key", std::string(size_t{1} << 20, 'x')});
  const auto subscription = log().subscribe({unique("group"), {topic}}, io_.get_executor());
  size_t count = 0;
  while (count < 30) {
    const messaging::Fetched fetched = run(subscription->fetch(1'000, Deadline::after(clock_, 1min)));
    ASSERT_FALSE(fetched.empty());
    EXPECT_LE(fetched.deliveries.size(), (messaging::bytes_at_once >> 20) + 1);
    count += fetched.deliveries.size();
  }
  run(subscription->close());
}

TEST_P(RedisLogTest, offsets_grow_beyond_what_the_process_has_seen) {
  const std::string topic = new_topic(1);
  const int64_t ahead = publish({topic, "key", "0"}).offset + (int64_t{1} << 40);
  redis_log().catalogue().saw({topic, 0}, ahead);
  EXPECT_EQ(publish({topic, "key", "1"}).offset, ahead + 1);
  EXPECT_EQ(publish({topic, "key", "2"}).offset, ahead + 2);
}

TEST_P(RedisLogTest, a_call_that_arrives_after_newer_ones_is_refused) {
  const std::string topic = new_topic(1);
  publish({topic, "key", "0"});
  redis_log().catalogue().doubt({topic, 0});
  publish({topic, "key", "1"});
  const redis::LogKeys keys({topic, 0});
  const std::string generation = keys.generation_of(redis_log().id());
  redis::Command older = redis::Command("SET").key(generation).arg(2);
  run(redis_log().redis().run(std::move(older)));
  EXPECT_THROW(publish({topic, "key", "2"}), EngineUnavailable);
  EXPECT_EQ(run(view().read(topic, 0, 0, 10)).size(), 2U);
}

TEST_P(RedisLogTest, a_member_that_does_not_let_go_in_time_loses_the_partition) {
  const std::string topic = new_topic(2);
  const std::string group = unique("group");
  for (const int partition : {0, 1}) publish({topic, key_in(partition, 2), "0"});
  const messaging::SubscriptionConfig config{.group = group, .topics = {topic}, .handover = 300ms};
  const auto stubborn = log().subscribe(config, io_.get_executor());
  messaging::Fetched told;
  run(fetch_until(*stubborn, told, [&] { return told.deliveries.size() == 2; }));

  const auto other = port().other_log().subscribe(config, io_.get_executor());
  messaging::Fetched taken;
  const auto moved = [&] { return !told.lost.empty() && !taken.deliveries.empty(); };
  std::vector<Task<>> tasks;
  tasks.push_back(fetch_until(*stubborn, told, moved));
  tasks.push_back(fetch_until(*other, taken, moved));
  run_all(std::move(tasks));
  ASSERT_EQ(told.leaving.size(), 1U);
  EXPECT_EQ(told.lost, told.leaving);
  EXPECT_EQ(taken.deliveries.size(), 1U) << "what was not committed comes again";
  run(stubborn->close());
  run(other->close());
}

INSTANTIATE_TEST_SUITE_P(Redis, RedisLogTest, testing::ValuesIn(redis_logs()), port_engine_name);

}  // namespace
}  // namespace sluice::test
