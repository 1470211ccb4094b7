// One Redis: the answers to callers in good times and bad.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/post.hpp>
#include <gmock/gmock.h>

#include "tests/scenario/redis_client_fixture.h"
#include "tests/support/free_port.h"

namespace sluice::redis {
namespace {

using test::RedisServer;

struct RedisSingle : RedisClient {
  void SetUp() override {
    RedisClient::SetUp();
    if (Test::IsSkipped()) return;
    server.emplace();
    connect({.url = server->url()});
  }

  std::string breaker_line(int state) const {
    return fmt::format("redis_circuit_breaker_state{{node=\"127.0.0.1:{}\"}} {}", server->port(), state);
  }

  std::optional<RedisServer> server;
};

TEST_F(RedisSingle, replies_are_values) {
  EXPECT_EQ(run(Command("SET").key("a").arg("1")), Reply("OK"));
  EXPECT_EQ(run(Command("INCRBY").key("a").arg(41)).integer(), 42);
  EXPECT_EQ(run(Command("GET").key("a")).integer(), 42);
  EXPECT_TRUE(run(Command("GET").key("none")).is_nil());
  run(Command("RPUSH").key("list").arg("x").arg(std::string("\0\r\n", 3)));
  EXPECT_EQ(run(Command("LRANGE").key("list").arg(0).arg(-1)), Reply(Reply::Array{"x", std::string("\0\r\n", 3)}));
}

TEST_F(RedisSingle, a_refusal_says_what_the_server_said) {
  run(Command("SET").key("a").arg("text"));
  EXPECT_THAT(failure(Command("LPUSH").key("a").arg("x")), testing::StartsWith("refused: redis: WRONGTYPE"));
  EXPECT_TRUE(works());
}

TEST_F(RedisSingle, commands_of_many_callers_share_a_connection_and_keep_their_replies) {
  std::vector<Pending> replies;
  for (int i = 0; i < 2000; ++i) replies.push_back(start(Command("ECHO").arg(i)));
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(replies[static_cast<size_t>(i)].reply().integer(), i);
  const std::string clients = server->cli({"CLIENT", "LIST"});
  EXPECT_EQ(clients.find("name=sluice"), clients.rfind("name=sluice"));
}

TEST_F(RedisSingle, commands_that_wait_together_leave_together) {
  // While the server sleeps, commands pile up; then one read of the server takes all of them.
  run(Command("PING"));
  const auto events = [this] {
    const std::string stats = server->cli({"INFO", "stats"});
    const size_t at = stats.find("total_reads_processed:");
    return std::stol(stats.substr(at + 22));
  };
  server->pause();
  std::vector<Pending> replies;
  for (int i = 0; i < 500; ++i) replies.push_back(start(Command("INCR").key("n")));
  server->resume();
  for (const Pending& reply : replies) reply.reply();
  const long before = events();
  std::vector<Pending> more;
  std::promise<void> all_asked;
  asio::post(threads.executor(0), [&] { all_asked.get_future().wait(); });  // holds the client's thread up
  for (int i = 0; i < 500; ++i) more.push_back(start(Command("INCR").key("n")));
  wait_for(nothing(), 1);
  all_asked.set_value();
  for (const Pending& reply : more) reply.reply();
  EXPECT_LT(events() - before, 100);
  EXPECT_EQ(run(Command("GET").key("n")).integer(), 1000);
}

TEST_F(RedisSingle, a_script_runs_by_its_hash_and_is_sent_whole_where_the_server_forgot_it) {
  const Script script{"return {KEYS[1], ARGV[1], ARGV[2]}"};
  const Reply expected(Reply::Array{"k", "1", "two"});
  EXPECT_EQ(run(Command(script, {"k"}).arg(1).arg("two")), expected);
  EXPECT_EQ(run(Command(script, {"k"}).arg(1).arg("two")), expected);
  server->cli({"SCRIPT", "FLUSH"});
  EXPECT_EQ(run(Command(script, {"k"}).arg(1).arg("two")), expected);
  const std::string stats = server->cli({"INFO", "commandstats"});
  EXPECT_THAT(stats, testing::HasSubstr("cmdstat_eval:calls=2,"));
}

TEST_F(RedisSingle, a_script_knows_the_history_of_its_server_which_a_start_and_every_promotion_begin_anew) {
  const Script script{Script::with_history("return history()")};
  // Again where the client leaves a server alone that it has just lost.
  const auto history = [&] {
    std::string told;
    EXPECT_TRUE(eventually([&] {
      const Pending call = start(Command(script, {"k"}));
      if (call.failure() == "none") told = call.reply().text();
      return !told.empty();
    }));
    return told;
  };
  const std::string first = history();
  EXPECT_THAT(server->cli({"INFO", "replication"}), testing::HasSubstr("master_replid:" + first));
  server->kill();
  server->start();
  ASSERT_TRUE(eventually([&] { return works(); }));
  const std::string second = history();
  EXPECT_NE(second, first);
  const RedisServer other({.settings = {"repl-diskless-sync-delay 0"}});
  server->cli({"REPLICAOF", "127.0.0.1", std::to_string(other.port())});
  ASSERT_TRUE(eventually([&] { return server->cli({"INFO", "replication"}).contains("master_link_status:up"); }));
  server->cli({"REPLICAOF", "NO", "ONE"});
  EXPECT_NE(history(), second) << "the same process, which may lack what it wrote before";
}

TEST_F(RedisSingle, a_server_that_became_a_replica_is_left_for_its_master_and_found_again_when_it_is_one) {
  RedisServer other({.settings = {"repl-diskless-sync-delay 0"}});
  const auto follow = [](const RedisServer& replica, const RedisServer& master) {
    replica.cli({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
  };
  const auto set = [this](const char* value) {
    return eventually([&] { return failure(Command("SET").key("a").arg(value)) == "none"; });
  };
  ASSERT_TRUE(set("1"));
  follow(*server, other);
  ASSERT_TRUE(set("2"));
  EXPECT_EQ(other.cli({"GET", "a"}), "2");
  ASSERT_TRUE(eventually([&] { return server->cli({"GET", "a"}) == "2"; }));

  server->cli({"REPLICAOF", "NO", "ONE"});
  follow(other, *server);
  ASSERT_TRUE(set("3"));
  EXPECT_EQ(server->cli({"GET", "a"}), "3");
}

TEST_F(RedisSingle, a_master_that_is_gone_is_given_up_for_the_server_it_took_over_from) {
  RedisServer other({.settings = {"repl-diskless-sync-delay 0"}});
  ASSERT_TRUE(works());
  server->cli({"REPLICAOF", "127.0.0.1", std::to_string(other.port())});
  ASSERT_TRUE(eventually([&] { return failure(Command("SET").key("a").arg("1")) == "none"; }));
  other.kill();
  server->cli({"REPLICAOF", "NO", "ONE"});
  ASSERT_TRUE(eventually([&] { return failure(Command("SET").key("a").arg("2")) == "none"; }));
  EXPECT_EQ(server->cli({"GET", "a"}), "2");
}

TEST_F(RedisSingle, a_silent_server_costs_each_caller_its_time_and_no_more) {
  connect({.url = server->url(), .breaker = {.window = 64}});
  ASSERT_TRUE(works());
  server->pause();
  const Instant begin = clock.now();
  std::vector<Pending> calls;
  for (int i = 0; i < 50; ++i) calls.push_back(start(Command("GET").key("a").within(2s)));
  for (const Pending& call : calls) EXPECT_THAT(call.failure(), testing::StartsWith("late"));
  EXPECT_GE(clock.now() - begin, 2s);
  EXPECT_LT(clock.now() - begin, 60s) << "one after the other they would take a hundred";
  server->resume();
  EXPECT_TRUE(eventually([&] { return works(); }));
}

TEST_F(RedisSingle, a_caller_can_have_less_time_or_more_than_usual) {
  ASSERT_TRUE(works());
  server->pause();
  const Pending usual = start(Command("PING"));
  EXPECT_THAT(failure(Command("PING").within(2s)), testing::StartsWith("late"));
  server->resume();
  EXPECT_EQ(usual.reply(), Reply("PONG")) << "others' impatience does not break the connection";
  connect({.url = server->url(), .command_timeout = 100ms});
  run(Command("PING").within(30s));
  EXPECT_EQ(run(Command("DEBUG").arg("SLEEP").arg("0.5").within(30s)), Reply("OK"));
  const Deadline passed{clock.now()};
  EXPECT_THAT(failure(Command("PING"), passed), testing::HasSubstr("before the command was sent"));
}

TEST_F(RedisSingle, the_breaker_opens_half_opens_and_closes_and_metrics_say_so) {
  connect({.url = server->url(), .command_timeout = 50ms, .breaker = {.open_for = 300ms, .growth = 1}});
  ASSERT_TRUE(eventually([&] { return works() && metrics_say(breaker_line(0)); }));
  server->pause();
  // In one look: it does not stay open.
  ASSERT_TRUE(eventually([&] {
    const Instant begin = clock.now();
    const bool refused = failure(Command("GET").key("a")).contains("breaker is open") && clock.now() - begin < 40ms;
    return refused && metrics_say(breaker_line(2));
  }));
  EXPECT_TRUE(eventually([&] { return !failure(Command("GET").key("a")).contains("breaker is open"); }))
      << "a trial call";
  server->resume();
  EXPECT_TRUE(eventually([&] { return works(); }));
  EXPECT_TRUE(eventually([&] { return works() && metrics_say(breaker_line(0)); }));
}

TEST_F(RedisSingle, a_server_that_was_killed_and_started_again_is_found_by_itself) {
  ASSERT_TRUE(works());
  server->kill();
  EXPECT_TRUE(eventually([&] { return failure(Command("GET").key("a")).starts_with("not run"); }));
  server->start();
  EXPECT_TRUE(eventually([&] { return works(); }));
  EXPECT_TRUE(metrics_say(fmt::format("redis_reconnects_total{{node=\"127.0.0.1:{}\"}} 1", server->port())));
}

TEST_F(RedisSingle, what_was_sent_when_the_connection_broke_is_unknown_unless_it_may_be_repeated) {
  run(Command("SET").key("a").arg(1));
  server->pause();
  Pending once = start(Command("INCR").key("a"));
  Pending repeatable = start(Command("GET").key("a").repeatable());
  let_it_leave();
  wait_for(client->close(), 0);
  EXPECT_THAT(once.failure(), testing::StartsWith("unknown"));
  EXPECT_THAT(once.failure(), testing::HasSubstr("whether the command ran is unknown"));
  EXPECT_THAT(repeatable.failure(), testing::HasSubstr("shutting down"));
  client.reset();
}

TEST_F(RedisSingle, a_repeatable_command_survives_a_restart_within_its_time) {
  connect({.url = server->url(), .command_timeout = 1min});
  ASSERT_TRUE(works());
  server->pause();
  Pending repeatable = start(Command("PING").repeatable());
  let_it_leave();
  server->kill();
  server->start();
  EXPECT_EQ(repeatable.reply(), Reply("PONG"));
}

TEST_F(RedisSingle, too_many_pending_commands_are_refused_at_once) {
  connect({.url = server->url(), .max_pending = 10});
  ASSERT_TRUE(works());
  server->pause();
  std::vector<Pending> calls;
  for (int i = 0; i < 10; ++i) calls.push_back(start(Command("PING")));
  EXPECT_THAT(failure(Command("PING")), testing::StartsWith("overloaded"));
  server->resume();
  for (const Pending& call : calls) EXPECT_EQ(call.reply(), Reply("PONG"));
  EXPECT_TRUE(works());
}

TEST_F(RedisSingle, a_cancelled_caller_leaves_and_the_others_keep_their_replies) {
  ASSERT_TRUE(works());
  server->pause();
  std::promise<void> left;
  asio::cancellation_signal cancel;
  asio::co_spawn(threads.executor(1), client->run(Command("ECHO").arg("first")),
                 asio::bind_cancellation_slot(cancel.slot(), [&](const std::exception_ptr& error, const Reply&) {
                   EXPECT_NE(error, nullptr);
                   left.set_value();
                 }));
  Pending second = start(Command("ECHO").arg("second"));
  asio::post(threads.executor(1), [&] { cancel.emit(asio::cancellation_type::terminal); });
  left.get_future().get();
  server->resume();
  EXPECT_EQ(second.reply(), Reply("second"));
}

TEST_F(RedisSingle, nobody_there_is_said_at_once) {
  const uint16_t port = server->port();
  server->kill();
  connect({.url = fmt::format("redis://127.0.0.1:{}", port)});
  EXPECT_THAT(failure(Command("PING")), testing::HasSubstr("Connection refused"));
}

TEST_F(RedisSingle, a_database_other_than_the_first_can_be_chosen) {
  connect({.url = server->url() + "/3"});
  run(Command("SET").key("a").arg("three"));
  EXPECT_EQ(server->cli({"-n", "3", "GET", "a"}), "three");
}

TEST_F(RedisSingle, a_server_that_is_part_of_a_cluster_is_named_so) {
  RedisServer clustered({.settings = {"cluster-enabled yes", fmt::format("cluster-port {}", test::free_port())}});
  // A call whose time ends during its last attempt is late and says only that.
  const auto a_call_says = [&](const char* text) {
    return eventually([&] { return failure(Command("GET").key("a").within(2s)).contains(text); });
  };
  connect({.url = clustered.url(), .breaker = {.window = 64}});
  EXPECT_TRUE(a_call_says("CLUSTERDOWN"));
  connect({.url = server->url(), .cluster = true});
  EXPECT_TRUE(a_call_says("check redis.cluster"));
}

struct RedisAccess : RedisClient {};

TEST_F(RedisAccess, user_and_password_are_shown_and_a_refusal_says_what_to_check) {
  RedisServer server({.settings = {"requirepass secret", "user limited on >word ~* &* +@all -info"},
                      .cli_arguments = {"--no-auth-warning", "--pass", "secret"}});
  connect({.url = server.url(), .password = "secret"});
  EXPECT_TRUE(works());
  connect({.url = server.url()});
  EXPECT_THAT(failure(Command("PING")), testing::HasSubstr("set SLUICE_REDIS_PASSWORD"));
  connect({.url = server.url(), .user = "nobody", .password = "secret"});
  EXPECT_THAT(failure(Command("PING")), testing::HasSubstr("check redis.user and the password"));
  connect({.url = server.url(), .user = "limited", .password = "word"});
  EXPECT_THAT(failure(Command("PING")), testing::HasSubstr("grant the user limited"));
}

}  // namespace
}  // namespace sluice::redis
