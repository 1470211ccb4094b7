#include "tests/chaos/outbox_fixture.h"
#include "tests/support/kafka_cluster.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

TEST_F(OutboxChaos, kafka_stops_for_a_while_and_nothing_is_lost_twice_or_out_of_order) {
  SLUICE_NEEDS(PostgresServer::why_missing(15));
  SLUICE_NEEDS(KafkaBroker::why_missing());
  const KafkaNode node = KafkaNode::with_free_ports(1);
  KafkaBroker kafka({}, node, {node});
  kafka.launch();
  engine_ = "kafka";
  where_ = kafka.address();
  set_up_database();
  kafka.wait_until_serving();
  start_all();
  kill_a_relay();
  kafka.kill();
  wait_until("backlog", [this] { return unpublished() > 300; });
  if (in_full()) let_pass(1min);
  kafka.start();
  see_effects(300);
  pause_a_relay();
  finish();
}

TEST_F(OutboxChaos, kafka_brokers_restarted_one_after_the_other_park_no_aggregate) {
  SLUICE_NEEDS(PostgresServer::why_missing(15));
  SLUICE_NEEDS(KafkaBroker::why_missing());
  KafkaCluster kafka;
  engine_ = "kafka";
  where_ = kafka.addresses();
  set_up_database();
  start_all(4);  // enough for every partition, and something of the CPU is left for brokers that start
  for (size_t i = 0; i < kafka.size(); ++i) {
    kafka.node(i).stop();
    see_effects(100);
    kafka.node(i).start();
    see_effects(100);
  }
  EXPECT_EQ(number(*common_, "SELECT count(*) FROM outbox_dead"), 0);
  EXPECT_EQ(number(*common_, "SELECT count(*) FROM outbox_events WHERE retry_count > 0"), 0) << "not a try either";
  finish();
}

}  // namespace
}  // namespace sluice::test
