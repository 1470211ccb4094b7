#include "tests/contract/kafka_engines.h"

#include <fstream>

#include "tests/support/free_port.h"

namespace sluice::test {

SharedKafka::SharedKafka() : secure_port_(free_port()) {
  std::ofstream both(certificates_.file("broker.pem"));
  for (const char* part : {"here.key", "here.pem"}) both << std::ifstream(certificates_.file(part)).rdbuf();
  both.close();
  const KafkaNode node = KafkaNode::with_free_ports(1);
  broker_.emplace(KafkaOptions{.settings = settings(node)}, node, std::vector{node});
  broker_->start();
}

std::vector<std::string> SharedKafka::settings(const KafkaNode& node) const {
  return {fmt::format("listeners=PLAINTEXT://127.0.0.1:{},CONTROLLER://127.0.0.1:{},CLIENTS://127.0.0.1:{}", node.port,
                      node.controller_port, secure_port_),
          "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,CLIENTS:SASL_SSL",
          "ssl.keystore.type=PEM",
          "ssl.keystore.location=" + certificates_.file("broker.pem"),
          "listener.name.clients.sasl.enabled.mechanisms=PLAIN",
          "listener.name.clients.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule "
          "required user_relay=\"secret\";"};
}

kafka::KafkaConfig SharedKafka::secure_config(const std::string& password) const {
  return {.brokers = fmt::format("127.0.0.1:{}", secure_port_),
          .tls = true,
          .ca_file = certificates_.file("ca.pem"),
          .user = "relay",
          .password = password,
          .mechanism = kafka::Mechanism::plain};
}

SharedKafka& shared_kafka() {
  static SharedKafka kafka;
  return kafka;
}

}  // namespace sluice::test
