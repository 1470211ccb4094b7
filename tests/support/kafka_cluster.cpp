#include "tests/support/kafka_cluster.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "base/check.h"

namespace sluice::test {

KafkaCluster::KafkaCluster(KafkaOptions options) {
  std::vector<KafkaNode> voters;
  for (int id = 1; id <= 3; ++id) voters.push_back(KafkaNode::with_free_ports(id));
  for (const KafkaNode& voter : voters) nodes_.push_back(std::make_unique<KafkaBroker>(options, voter, voters));
  for (const auto& node : nodes_) node->launch();
  for (const auto& node : nodes_) node->wait_until_serving();
}

std::string KafkaCluster::addresses() const {
  std::vector<std::string> all;
  for (const auto& node : nodes_) all.push_back(node->address());
  return fmt::format("{}", fmt::join(all, ","));
}

KafkaBroker& KafkaCluster::broker(int id) {
  const auto found = std::ranges::find_if(nodes_, [id](const auto& node) { return node->id() == id; });
  check_that(found != nodes_.end(), "no broker has the id {}", id);
  return **found;
}

}  // namespace sluice::test
