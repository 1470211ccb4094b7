#include "tests/contract/consumer_contract.h"
#include "tests/contract/kafka_engines.h"
#include "tests/contract/log_view_contract.h"
#include "tests/contract/message_log_contract.h"
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

}  // namespace

INSTANTIATE_TEST_SUITE_P(Kafka, MessageLogContract, testing::ValuesIn(logs()), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Kafka, MessageGroupsContract, testing::ValuesIn(logs()), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Kafka, LogViewContract, testing::ValuesIn(logs()), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Kafka, ConsumerContract, testing::ValuesIn(logs()), port_engine_name);

}  // namespace sluice::test
