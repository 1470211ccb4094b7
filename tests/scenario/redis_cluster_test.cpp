// A Redis Cluster that is resharded, loses masters and goes silent.
#include "tests/support/redis_cluster.h"

#include <gmock/gmock.h>

#include "adapters/redis/client/hash_slots.h"
#include "tests/scenario/redis_client_fixture.h"

namespace sluice::redis {
namespace {

using test::RedisCluster;
using test::RedisServer;
using testing::HasSubstr;

struct RedisClustered : RedisClient {
  static void TearDownTestSuite() { shared.reset(); }

  void SetUp() override {
    RedisClient::SetUp();
    if (IsSkipped()) return;
    if (!shared) shared = std::make_unique<RedisCluster>();
    connect({.url = shared->url(), .cluster = true});
  }

  RedisCluster& cluster() { return *shared; }

  // A slot on its way from one master to another, by hand.
  struct Move {
    RedisServer& from;
    RedisServer& to;
    std::string slot;

    void begin() const {
      to.cli({"CLUSTER", "SETSLOT", slot, "IMPORTING", RedisCluster::id_of(from)});
      from.cli({"CLUSTER", "SETSLOT", slot, "MIGRATING", RedisCluster::id_of(to)});
    }
    void take(const std::string& key) const {
      from.cli({"MIGRATE", "127.0.0.1", std::to_string(to.port()), key, "0", "30000"});
    }
    void end() const {
      const std::string id = RedisCluster::id_of(to);
      to.cli({"CLUSTER", "SETSLOT", slot, "NODE", id});
      from.cli({"CLUSTER", "SETSLOT", slot, "NODE", id});
    }
  };
  Move move_of(const std::string& key) {
    RedisServer& from = cluster().master_of(key);
    return {from, cluster().other_master(from), std::to_string(cluster().slot_of(key))};
  }

  static inline std::unique_ptr<RedisCluster> shared;
};

const Script tell_history{Script::with_history("return history()")};

TEST_F(RedisClustered, keys_go_to_the_nodes_that_have_their_slots) {
  for (int i = 0; i < 300; ++i) run(Command("SET").key(fmt::format("routed:{}", i)).arg(i));
  for (int i = 0; i < 300; ++i) EXPECT_EQ(run(Command("GET").key(fmt::format("routed:{}", i))).integer(), i);
  RedisServer& master = cluster().master_of("routed:7");
  EXPECT_EQ(master.cli({"GET", "routed:7"}), "7");
  EXPECT_EQ(run(Command("PING")), Reply("PONG")) << "without a key any node will do";
  EXPECT_EQ(slot_of("{tag}rest"), cluster().slot_of("{tag}rest"));
}

TEST_F(RedisClustered, a_script_runs_where_its_keys_are_and_knows_that_nodes_history) {
  for (const std::string key : {"a", "b", "c", "d", "e"}) {
    const std::string replication = cluster().master_of(key).cli({"INFO", "replication"});
    EXPECT_THAT(replication, HasSubstr("master_replid:" + run(Command(tell_history, {key})).text()));
  }
}

TEST_F(RedisClustered, a_slot_that_moved_is_followed) {
  const std::string key = "moved";
  run(Command("SET").key(key).arg("x"));
  const Move move = move_of(key);
  move.begin();
  move.take(key);
  move.end();
  EXPECT_EQ(run(Command("GET").key(key)).text(), "x");
  EXPECT_TRUE(metrics::expose().contains("redis_redirects_total{kind=\"moved\"}"));
  run(Command("SET").key(key).arg("y"));
  EXPECT_EQ(move.to.cli({"GET", key}), "y");
}

TEST_F(RedisClustered, a_slot_on_its_way_is_asked_on_both_ends) {
  const std::string here = "{way}here";
  const std::string gone = "{way}gone";
  run(Command("SET").key(here).arg("1"));
  run(Command("SET").key(gone).arg("2"));
  const Move move = move_of(here);
  move.begin();
  move.take(gone);
  EXPECT_EQ(run(Command("GET").key(here)).text(), "1");
  EXPECT_EQ(run(Command("GET").key(gone)).text(), "2");
  EXPECT_TRUE(metrics::expose().contains("redis_redirects_total{kind=\"ask\"}"));
  const Script script{"return redis.call('GET', KEYS[1])"};
  EXPECT_EQ(run(Command(script, {gone})).text(), "2") << "a script that the other end does not know yet";

  // A call whose time ends during its last attempt is late and says only that.
  EXPECT_TRUE(eventually([&] { return failure(Command("MGET").key(here).key(gone).within(2s)).contains("TRYAGAIN"); }))
      << "the two are apart";
  Pending both = start(Command("MGET").key(here).key(gone).within(1min));
  move.take(here);
  move.end();
  EXPECT_EQ(both.reply(), Reply(Reply::Array{"1", "2"}));
}

TEST_F(RedisClustered, dead_seeds_do_not_matter_while_one_lives) {
  RedisServer dead;
  dead.kill();
  connect({.url = fmt::format("redis://127.0.0.1:{},127.0.0.1:{}", dead.port(), cluster().node(4).port()),
           .cluster = true});
  EXPECT_TRUE(works("a"));
}

TEST_F(RedisClustered, calls_work_again_by_themselves_after_a_master_was_killed) {
  const std::string key = "elected";  // on another node than that of the planned failover: see elect_successor_of
  run(Command("SET").key(key).arg("kept"));
  RedisServer& master = cluster().master_of(key);
  // On the connection that wrote: WAIT counts only writes of its own connection.
  ASSERT_EQ(run(Command("WAIT").at(key).arg(1).arg(30'000).within(1min)).integer(), 1);
  const std::string before = run(Command(tell_history, {key})).text();
  RedisServer& other = cluster().other_master(master);
  std::string elsewhere = "e";
  while (&cluster().master_of(elsewhere) != &other) elsewhere += "e";

  master.kill();
  Pending patient = start(Command("GET").key(key).repeatable().within(1min));
  EXPECT_NE(failure(Command("GET").key(key).within(250ms)), "none")
      << "who has little time is told, not made to wait for the next";
  cluster().elect_successor_of(master);
  EXPECT_EQ(patient.reply().text(), "kept") << "who has the time is served by the next master";
  EXPECT_TRUE(eventually([&] { return works(key); }));
  EXPECT_TRUE(eventually([&] { return works(elsewhere); }));
  EXPECT_NE(run(Command(tell_history, {key})).text(), before);
  run(Command("SET").key(key).arg("new"));

  master.start();
  cluster().wait_until_healthy();
  EXPECT_EQ(run(Command("GET").key(key)).text(), "new");
}

TEST_F(RedisClustered, a_silent_master_does_not_hold_up_the_others_and_is_replaced) {
  const std::string key = "silent";
  connect({.url = cluster().url(), .cluster = true, .command_timeout = 500ms});
  run(Command("SET").key(key).arg("kept").within(30s));
  RedisServer& master = cluster().master_of(key);
  ASSERT_EQ(run(Command("WAIT").at(key).arg(1).arg(30'000).within(1min)).integer(), 1);
  RedisServer& other = cluster().other_master(master);
  std::string elsewhere = "o";
  while (&cluster().master_of(elsewhere) != &other) elsewhere += "o";
  master.pause();
  EXPECT_THAT(failure(Command("GET").key(key).within(2s)), testing::StartsWith("late"));
  EXPECT_TRUE(works_within(30s, elsewhere));
  cluster().fail_over(master);
  EXPECT_TRUE(eventually([&] { return works(key); }));
  EXPECT_EQ(run(Command("GET").key(key).within(30s)).text(), "kept");
  master.resume();
  cluster().wait_until_healthy();
  EXPECT_TRUE(works_within(30s, key));
}

TEST_F(RedisClustered, many_callers_go_on_over_a_planned_failover_without_a_single_error) {
  const std::string key = "{planned}";
  RedisServer& master = cluster().master_of(key);
  RedisServer* replica = nullptr;
  for (size_t i = 0; i < cluster().size(); ++i) {
    if (cluster().node(i).cli({"ROLE"}).contains(std::to_string(master.port()))) replica = &cluster().node(i);
  }
  ASSERT_NE(replica, nullptr);
  std::vector<Pending> calls;
  calls.push_back(start(Command("SET").key(key).arg(0)));
  replica->cli({"CLUSTER", "FAILOVER"});
  Instant ordered = clock.now();
  ASSERT_TRUE(eventually([&] {
    if (clock.now() - ordered >
        6s) {  // Redis gives a planned failover up after 5 s, which this machine may stand still
      replica->cli({"CLUSTER", "FAILOVER"});
      ordered = clock.now();
    }
    calls.push_back(start(Command("INCR").key(key).within(30s)));
    calls.back().wait();
    return calls.size() >= 200 && replica->cli({"ROLE"}).starts_with("master");
  }));
  for (const Pending& call : calls) EXPECT_EQ(call.failure(), "none");
  EXPECT_EQ(run(Command("GET").key(key)).integer(), static_cast<int64_t>(calls.size()) - 1);
  cluster().wait_until_healthy();
}

}  // namespace
}  // namespace sluice::redis
