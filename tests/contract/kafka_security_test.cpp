#include "tests/contract/kafka_engines.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

class KafkaSecurity : public TaskFixture {
 protected:
  void SetUp() override { SLUICE_NEEDS(KafkaBroker::why_missing()); }

  // Whether a client with that configuration may publish.
  bool publishes(kafka::KafkaConfig config, const std::string& topic) {
    config.send_timeout = 2s;
    OpenKafkaLog open(std::move(config), io_);
    bool published = true;
    try {
      run(publish_one(open.log(), {topic, "key", "payload"}));
    } catch (const EngineUnavailable&) {
      published = false;
    }
    run(open.close());
    return published;
  }
};

TEST_F(KafkaSecurity, who_knows_the_password_publishes_over_tls_and_nobody_else) {
  SharedKafka& kafka = shared_kafka();
  OpenKafkaLog open(kafka.config(), io_);
  const std::string topic = unique("secured");
  run(open.log().declare({{.name = topic, .partitions = 1}}));
  kafka::KafkaConfig right = kafka.secure_config("secret");
  right.send_timeout = 30s;
  EXPECT_TRUE(publishes(right, topic));
  EXPECT_FALSE(publishes(kafka.secure_config("guessed"), topic));

  kafka::KafkaConfig distrustful = kafka.secure_config("secret");
  distrustful.ca_file = kafka.certificates().file("elsewhere.pem");
  EXPECT_FALSE(publishes(distrustful, topic));
  EXPECT_EQ(run(open.log().read(topic, 0, 0, 10)).size(), 1U);
  run(open.close());
}

}  // namespace
}  // namespace sluice::test
