// librdkafka's mock brokers. Only for tests of the code around librdkafka: the log itself is tested on real brokers.
#pragma once

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "adapters/kafka/instances.h"

namespace sluice::kafka {

class MockKafka {
 public:
  rd_kafka_mock_cluster_t* cluster() const { return cluster_.get(); }
  // Connected to it.
  Instances& instances() { return instances_; }

 private:
  using Cluster = std::unique_ptr<rd_kafka_mock_cluster_t, Destroy<rd_kafka_mock_cluster_destroy>>;

  static KafkaConfig config_of(const rd_kafka_mock_cluster_t* cluster) {
    return {.brokers = rd_kafka_mock_cluster_bootstraps(cluster), .linger = 0ms};
  }

  Instances unconnected_{KafkaConfig{.brokers = "127.0.0.1:1"}};
  const Instance host_ = unconnected_.producer();
  const Cluster cluster_{rd_kafka_mock_cluster_new(host_.get(), 1)};
  Instances instances_{config_of(cluster_.get())};
};

}  // namespace sluice::kafka
