// A private Kafka of three brokers, each of them controller too: one may be lost.
//
//   KafkaCluster cluster;
//   connect(cluster.addresses());
//   cluster.node(1).kill();
//
// A lost broker is missed after two seconds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/kafka_broker.h"

namespace sluice::test {

class KafkaCluster {
 public:
  // Returns when all of them serve.
  explicit KafkaCluster(KafkaOptions options = {});

  // "127.0.0.1:PORT,127.0.0.1:PORT,..."
  std::string addresses() const;
  size_t size() const { return nodes_.size(); }
  KafkaBroker& node(size_t i) { return *nodes_[i]; }
  // The one with that id, as Kafka's metadata has it.
  KafkaBroker& broker(int id);

 private:
  std::vector<std::unique_ptr<KafkaBroker>> nodes_;
};

}  // namespace sluice::test
