#include "tests/chaos/outbox_fixture.h"
#include "tests/support/needs.h"
#include "tests/support/redis_server.h"

namespace sluice::test {
namespace {

TEST_F(OutboxChaos, redis_forgets_everything_again_and_again_and_nothing_is_lost_twice_or_out_of_order) {
  SLUICE_NEEDS(PostgresServer::why_missing(15));
  SLUICE_NEEDS(RedisServer::why_missing());
  RedisServer redis;
  engine_ = "redis";
  where_ = redis.url();
  set_up_database();
  start_all();
  for (int i = 0; i < (in_full() ? 20 : 3); ++i) {
    redis.wipe();
    see_effects(100);
  }
  kill_a_relay();
  redis.kill();
  wait_until("backlog", [this] { return unpublished() > 100; });
  if (in_full()) let_pass(1min);
  redis.start_empty();
  see_effects(100);
  pause_a_relay();
  redis.wipe();
  finish();
}

}  // namespace
}  // namespace sluice::test
