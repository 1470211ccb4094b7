#include "tests/chaos/outbox_fixture.h"
#include "tests/support/kafka_broker.h"
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

}  // namespace
}  // namespace sluice::test
