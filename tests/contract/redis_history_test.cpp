// A server that was master, followed another and is master again: the same process, which may lack earlier writes.
#include "adapters/redis/coordination/redis_denial_copy.h"
#include "adapters/redis/coordination/redis_limit.h"
#include "adapters/redis/coordination/redis_slots.h"
#include "tests/contract/redis_engines.h"
#include "tests/contract/task_fixture.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

using coordination::Denied;

class RedisHistory : public TaskFixture {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(RedisServer::why_missing());
    server_.emplace(RedisOptions{.settings = {"repl-diskless-sync-delay 0"}});
    client_.emplace(redis::RedisConfig{.url = server_->url(), .connect_timeout = 30s, .command_timeout = 30s},
                    io_.get_executor(), clock_);
  }
  void TearDown() override {
    if (client_) run(client_->close());
  }

  bool follow(const RedisServer& replica, const RedisServer& master) {
    replica.cli({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
    return eventually([&] { return replica.cli({"INFO", "replication"}).contains("master_link_status:up"); });
  }
  void follow_for_a_while() {
    const RedisServer other({.settings = {"repl-diskless-sync-delay 0"}});
    ASSERT_TRUE(follow(other, *server_));
    other.cli({"REPLICAOF", "NO", "ONE"});
    ASSERT_TRUE(follow(*server_, other));
    server_->cli({"REPLICAOF", "NO", "ONE"});
  }

  SystemClock clock_;
  std::optional<RedisServer> server_;
  std::optional<redis::Redis> client_;
};

TEST_F(RedisHistory, permits_given_before_count_as_spent) {
  const coordination::LimitPlan plan{
      .name = "limit", .window = {{"all", 10, 1s}}, .priority = {{.name = "ALL", .windows = {"all"}}}};
  redis::RedisLimit limit(*client_, plan, clock_);
  const auto draw = [&] { return run(limit.draw(0, 1, 1)); };
  ASSERT_TRUE(eventually([&] { return draw().given == 1; }));
  follow_for_a_while();
  EXPECT_EQ(draw().given, 0);
}

TEST_F(RedisHistory, a_copy_of_denied_tokens_is_not_complete_any_more) {
  redis::RedisDenialCopy copy(*client_);
  run(copy.begin_fill(1));
  run(copy.end_fill(1));
  EXPECT_EQ(run(copy.ask("token")), Denied::no);
  follow_for_a_while();
  EXPECT_EQ(run(copy.ask("token")), Denied::unknown);
}

TEST_F(RedisHistory, no_slot_is_given_while_one_that_was_lost_may_be_in_use) {
  redis::RedisSlots slots(*client_);
  ASSERT_TRUE(run(slots.take("key", 2, "me", 1min)));
  follow_for_a_while();
  EXPECT_FALSE(run(slots.take("key", 2, "me", 1min)));
}

}  // namespace
}  // namespace sluice::test
