#include <array>

#include "tests/contract/consumer_suite.h"
#include "tests/contract/kafka_engines.h"
#include "tests/contract/log_view_suite.h"
#include "tests/contract/message_log_suite.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

class OpenTestedKafkaLog : public OpenPort<TestedLog>, public TestedLog {
 public:
  OpenTestedKafkaLog(const kafka::KafkaConfig& config, asio::io_context& io) : here_(config, io), there_(config, io) {}

  TestedLog& port() override { return *this; }
  messaging::MessageLog& log() override { return here_.log(); }
  messaging::LogView& view() override { return here_.log(); }
  messaging::MessageLog& other_log() override { return there_.log(); }
  Task<> close() override {
    co_await here_.close();
    co_await there_.close();
  }

 private:
  OpenKafkaLog here_;
  OpenKafkaLog there_;
};

std::vector<PortEngine<TestedLog>> logs() {
  if (KafkaBroker::why_missing()) return {};
  const auto open = [](asio::io_context& io) {
    return std::make_unique<OpenTestedKafkaLog>(shared_kafka().config(), io);
  };
  return {{.name = "kafka", .open = open}};
}

// Suites that are instantiated with no engine at all would pass silently.
TEST(KafkaEngines, can_be_had) {
  SLUICE_NEEDS(KafkaBroker::why_missing());
  EXPECT_EQ(logs().size(), 1U);
}

class KafkaGroups : public MessageGroupsContract {
 protected:
  Task<> let_go_a_little_later(LogReader& reader) {
    co_await clock_.sleep_for(500ms);
    co_await reader.let_go();
  }
};

// Kafka's brokers keep the others waiting meanwhile, with everything they ask for.
TEST_P(KafkaGroups, a_member_that_is_slow_to_let_go_costs_the_others_no_commit_and_no_partition) {
  const std::string topic = new_topic(6);
  const std::string group = unique("group");
  LogReader& one = reader(group, {topic}, {.commits = false, .session = 20s});
  const auto alone = [&] { return history_.held_by(one.number()) == 6; };
  ASSERT_TRUE(read_until({&one}, alone, publishing(topic, alone)));
  LogReader& slow = reader_at(port().other_log(), group, {topic}, {.commits = false, .lets_go = false, .session = 20s});
  const auto two = [&] { return history_.held_by(one.number()) == 3 && history_.held_by(slow.number()) == 3; };
  ASSERT_TRUE(read_until({&one, &slow}, two, publishing(topic, two)));

  LogReader& three = reader(group, {topic}, {.commits = false, .session = 20s});
  const auto asked = [&] { return history_.held_by(one.number()) == 2 && slow.asked_back() == 1; };
  ASSERT_TRUE(read_until({&one, &slow, &three}, asked));
  read_what_else_there_is(one);
  std::vector<Task<>> both;
  both.push_back(one.commit());
  both.push_back(let_go_a_little_later(slow));
  for (const auto& outcome : run_all(std::move(both))) ASSERT_FALSE(outcome.error);

  const auto shared = [&] {
    return std::ranges::all_of(std::array{&one, &slow, &three},
                               [this](const LogReader* each) { return history_.held_by(each->number()) == 2; });
  };
  ASSERT_TRUE(read_until({&one, &slow, &three}, shared, publishing(topic, shared)));
  EXPECT_EQ(one.losses() + slow.losses() + three.losses(), 0U);
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Kafka, MessageLogContract, testing::ValuesIn(logs()), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Kafka, MessageGroupsContract, testing::ValuesIn(logs()), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Kafka, KafkaGroups, testing::ValuesIn(logs()), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Kafka, LogViewContract, testing::ValuesIn(logs()), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Kafka, ConsumerContract, testing::ValuesIn(logs()), port_engine_name);

}  // namespace sluice::test
