#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/connection_check.h"
#include "tests/support/kafka_cluster.h"
#include "tests/support/needs.h"
#include "tests/support/pgbouncer_server.h"
#include "tests/support/process_tree.h"
#include "tests/support/redis_cluster.h"

namespace sluice::test {
namespace {

Process shell(const std::string& script) {
  return Process({.arguments = {"sh", "-c", script}});
}

TEST(Process, gives_its_output_by_the_line_and_its_exit_code) {
  Process process = shell("echo one; echo two >&2; exit 7");
  EXPECT_EQ(process.next_line(), "one");
  EXPECT_EQ(process.next_line(), "two");
  EXPECT_EQ(process.next_line(), std::nullopt);
  EXPECT_EQ(process.wait(), 7);
}

TEST(Process, shows_what_it_said_when_the_awaited_line_does_not_come) {
  Process process = shell("echo something else");
  try {
    process.wait_for_line("ready");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("something else"), std::string::npos);
  }
}

TEST(Process, tells_the_signal_that_ended_it) {
  Process process = shell("echo up; exec sleep 100");
  process.wait_for_line("up");
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 128 + SIGTERM);
}

TEST(Process, dies_with_its_descendants_also_those_in_other_sessions) {
  Process process = shell("setsid sleep 100 & echo $!; wait");
  const pid_t descendant = std::stoi(process.next_line().value());
  process.kill();
  EXPECT_TRUE(wait_until_gone({descendant}, 30s));
}

TEST(Process, gets_its_environment_and_input) {
  Process process({.arguments = {"sh", "-c", "read -r line; echo $GREETING $line"},
                   .environment = {{"GREETING", "hello"}},
                   .input = "world\n"});
  EXPECT_EQ(process.next_line(), "hello world");
}

// Starts a folder and a program in a process of its own, which then dies without a word.
TEST(CrashGuard, cleans_up_after_a_process_that_was_killed) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t victim = fork();
  if (victim == 0) {
    const TemporaryFolder folder;
    Process process = shell("echo up; exec sleep 100");
    process.wait_for_line("up");
    const std::string report = fmt::format("{} {}\n", process.pid(), folder.path().string());
    [[maybe_unused]] const ssize_t written = write(ends[1], report.data(), report.size());
    raise(SIGKILL);
  }
  close(ends[1]);
  waitpid(victim, nullptr, 0);
  char report[256] = {};
  ASSERT_GT(read(ends[0], report, sizeof report - 1), 0);
  close(ends[0]);
  char* folder = nullptr;
  const auto orphan = static_cast<pid_t>(std::strtol(report, &folder, 10));
  std::string path(folder + 1);
  path.pop_back();

  EXPECT_TRUE(wait_until_gone({orphan}, 30s));
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (std::filesystem::exists(path) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PostgresServer, keeps_port_and_data_when_it_is_stopped_or_killed_and_started_again) {
  SLUICE_NEEDS(PostgresServer::why_missing(15));
  PostgresServer postgres;
  const std::string url = postgres.url();
  postgres.stop();
  EXPECT_THROW(check_connects(url, postgres.user(), postgres.password()), std::runtime_error);
  postgres.start();
  check_connects(url, postgres.user(), postgres.password());
  postgres.kill();
  EXPECT_THROW(check_connects(url, postgres.user(), postgres.password()), std::runtime_error);
  postgres.start();
  check_connects(url, postgres.user(), postgres.password());
}

TEST(PostgresServer, asks_for_the_password) {
  SLUICE_NEEDS(PostgresServer::why_missing(15));
  const PostgresServer postgres;
  EXPECT_THROW(check_connects(postgres.url(), postgres.user(), "wrong"), std::runtime_error);
}

TEST(PostgresServer, goes_on_after_a_pause) {
  SLUICE_NEEDS(PostgresServer::why_missing(15));
  PostgresServer postgres;
  postgres.pause();
  postgres.resume();
  check_connects(postgres.url(), postgres.user(), postgres.password());
}

TEST(PostgresServer, runs_as_version_18_too) {
  SLUICE_NEEDS(PostgresServer::why_missing(18));
  const PostgresServer postgres({.version = 18});
  EXPECT_NE(postgres.log().find("PostgreSQL 18"), std::string::npos);
}

TEST(PostgresServer, shows_its_log_when_it_fails_to_start) {
  SLUICE_NEEDS(PostgresServer::why_missing(15));
  try {
    const PostgresServer postgres({.settings = {"shared_buffers=nonsense"}});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("shared_buffers"), std::string::npos);
  }
}

TEST(RedisServer, keeps_its_data_where_it_is_durable_and_starts_empty_when_asked) {
  SLUICE_NEEDS(RedisServer::why_missing());
  RedisServer redis({.durable = true});
  redis.cli({"SET", "a", "1"});
  redis.kill();
  EXPECT_THROW(redis.cli({"PING"}), std::runtime_error);
  redis.start();
  EXPECT_EQ(redis.cli({"GET", "a"}), "1");
  redis.wipe();
  EXPECT_EQ(redis.cli({"DBSIZE"}), "0");
  redis.cli({"SET", "a", "1"});
  redis.stop();
  redis.start_empty();
  EXPECT_EQ(redis.cli({"DBSIZE"}), "0");
}

TEST(RedisServer, goes_on_after_a_pause) {
  SLUICE_NEEDS(RedisServer::why_missing());
  RedisServer redis;
  redis.pause();
  redis.resume();
  EXPECT_EQ(redis.cli({"PING"}), "PONG");
}

TEST(RedisServer, shows_its_log_when_it_fails_to_start) {
  SLUICE_NEEDS(RedisServer::why_missing());
  try {
    const RedisServer redis({.settings = {"maxmemory nonsense"}});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("maxmemory"), std::string::npos);
  }
}

TEST(KafkaBroker, keeps_its_port_and_its_topics_when_it_was_killed_and_stopped) {
  SLUICE_NEEDS(KafkaBroker::why_missing());
  KafkaBroker kafka;
  const auto tool = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"org.apache.kafka.tools.TopicCommand", "--bootstrap-server", kafka.address()});
    return KafkaBroker::run_tool(std::move(more));
  };
  tool({"--create", "--topic", "orders", "--partitions", "2"});
  kafka.kill();
  kafka.start();
  kafka.stop();
  EXPECT_FALSE(kafka.running());
  kafka.start();
  EXPECT_NE(tool({"--list"}).find("orders"), std::string::npos);
}

TEST(KafkaBroker, shows_its_log_when_it_fails_to_start) {
  SLUICE_NEEDS(KafkaBroker::why_missing());
  try {
    const KafkaBroker kafka({.settings = {"num.io.threads=nonsense"}});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("num.io.threads"), std::string::npos);
  }
}

TEST(RedisCluster, a_replica_takes_over_from_a_killed_master_which_comes_back_as_replica) {
  SLUICE_NEEDS(RedisServer::why_missing());
  RedisCluster cluster;
  RedisServer& master = cluster.master_of("a");
  master.cli({"SET", "a", "1"});
  master.cli({"WAIT", "1", "30000"});
  master.kill();
  cluster.fail_over(master);
  RedisServer& successor = cluster.master_of("a");
  EXPECT_NE(&successor, &master);
  EXPECT_EQ(successor.cli({"GET", "a"}), "1");
  master.start();
  cluster.wait_until_healthy();
  EXPECT_EQ(&cluster.master_of("a"), &successor);
}

TEST(PgBouncerServer, answers_in_front_of_postgres) {
  SLUICE_NEEDS(PostgresServer::why_missing(15));
  SLUICE_NEEDS(PgBouncerServer::why_missing());
  const PostgresServer postgres;
  PgBouncerServer pgbouncer(postgres);
  pgbouncer.kill();
  pgbouncer.start();
  check_connects(pgbouncer.url(), postgres.user(), postgres.password());
}

}  // namespace
}  // namespace sluice::test
