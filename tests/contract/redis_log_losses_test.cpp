// Faults of the log that only Redis has.
#include <future>

#include "adapters/redis/log/redis_log_keys.h"
#include "tests/contract/redis_log_engines.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

class RedisLogLosses : public LogFixture {
 protected:
  RedisEngine engine() const {
    for (const RedisEngine& each : redis_engines()) {
      if (each.name == GetParam().name) return each;
    }
    throw std::logic_error("no such engine");
  }

  Task<> publish_whatever_happens(Message message) {
    while (true) {
      try {
        co_await publish_one(log(), message);
        co_return;
      } catch (const EngineUnavailable&) {
      }
      co_await clock_.sleep_for(20ms);
    }
  }
  // The next number of each key, each tried until it is acknowledged.
  Task<> publish_round(std::string topic) {
    for (int i = 0; i < 12; ++i) {
      Message message{topic, fmt::format("key {}", i), std::to_string(next_)};
      co_await publish_whatever_happens(std::move(message));
    }
    ++next_;
  }
  Task<> keep_publishing(std::string topic, Condition done) {
    while (!done()) co_await publish_round(topic);
  }
  Task<> keep_reading(LogReader& reader, Condition done) {
    const Deadline limit = Deadline::after(clock_, 1min);
    while (!done() && !limit.passed(clock_)) {
      try {
        co_await reader.read();
        continue;
      } catch (const EngineUnavailable&) {
      }
      co_await clock_.sleep_for(20ms);
    }
  }
  // Of each key.
  bool seen_by_all_keys(int number) const {
    std::set<std::string> keys;
    for (const LogHistory::Seen& one : history_.seen()) {
      if (one.payload == std::to_string(number)) keys.insert(one.key);
    }
    return keys.size() == 12;
  }
  // Messages of each key seen for the first time; repetitions are not new.
  std::map<std::string, std::vector<int>> first_seen() const {
    std::map<std::string, std::vector<int>> all;
    for (const LogHistory::Seen& one : history_.seen()) {
      std::vector<int>& numbers = all[one.key];
      const int number = std::stoi(one.payload);
      if (std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(number);
    }
    return all;
  }
  std::map<int32_t, int64_t> ends(const std::string& topic) {
    std::map<int32_t, int64_t> all;
    for (const messaging::TopicView& each : run(view().topics())) {
      if (each.topic.name != topic) continue;
      for (const messaging::PartitionBounds& bounds : each.partitions) all[bounds.partition] = bounds.end;
    }
    return all;
  }
  // Runs the tasks while the server of the topic's first partition is replaced.
  void while_replaced(const std::string& topic, const std::function<void(Condition)>& live) {
    std::atomic<bool> over = false;
    auto replaced = std::async(std::launch::async, [&] {
      engine().replace_server_of(redis::LogKeys({topic, 0}).messages);
      over = true;
    });
    live([&over] { return over.load(); });
    replaced.get();
  }

  int next_ = 0;
};

TEST_P(RedisLogLosses, everything_goes_on_after_a_wipe) {
  const std::string topic = new_topic(4);
  LogReader& reader = this->reader(unique("group"), {topic}, {.session = 2s});
  for (int i = 0; i < 5; ++i) run(publish_round(topic));
  ASSERT_TRUE(read_until_seen({&reader}, 60));
  const std::map<int32_t, int64_t> before = ends(topic);
  engine().wipe();

  for (int i = 0; i < 5; ++i) run(publish_round(topic));
  ASSERT_TRUE(read_until_seen({&reader}, 120));
  read_what_else_there_is(reader);
  EXPECT_EQ(history_.seen().size(), 120U);
  for (const auto& [key, numbers] : first_seen()) EXPECT_EQ(numbers.size(), 10U) << key;
  for (const auto& [partition, end] : ends(topic)) EXPECT_GT(end, before.at(partition)) << "topics are known again";
}

TEST_P(RedisLogLosses, a_topic_is_known_again_after_a_wipe_also_where_nothing_is_published) {
  const std::string topic = new_topic(3);
  engine().wipe();
  EXPECT_EQ(ends(topic).size(), 3U);
}

TEST_P(RedisLogLosses, who_asked_what_is_remembered_publishes_nothing_behind_a_gap) {
  const std::string topic = new_topic(2);
  const auto memory = run(log().memory(topic));
  publish({topic, "key", "0"});
  engine().wipe();
  EXPECT_THROW(publish({topic, "key", "1"}), EngineUnavailable);
  EXPECT_THROW(publish({topic, "key", "1"}), EngineUnavailable);
  const auto after = run(log().memory(topic));
  EXPECT_NE(after.life, memory.life);
  EXPECT_EQ(after.run, memory.run);
  publish({topic, "key", "1"});
  EXPECT_EQ(run(log().memory(topic)), after);
}

TEST_P(RedisLogLosses, what_is_remembered_changes_when_the_server_is_replaced) {
  const std::string topic = new_topic(1);
  const auto memory = run(log().memory(topic));
  engine().replace_server_of(redis::LogKeys({topic, 0}).messages);
  std::optional<messaging::MessageLog::Memory> after;
  EXPECT_TRUE(eventually([&] {
    try {
      // Refused until its memory was read.
      EXPECT_THROW(publish({topic, "key", "1"}), EngineUnavailable);
      after = run(log().memory(topic));
      return true;
    } catch (const EngineUnavailable&) {
      return false;
    }
  }));
  EXPECT_NE(after->run, memory.run);
  run(publish_whatever_happens({topic, "key", "1"}));
}

TEST_P(RedisLogLosses, nothing_is_reordered_while_a_server_is_replaced) {
  const std::string topic = new_topic(6);
  LogReader& reader = this->reader(unique("group"), {topic}, {.session = 2s});
  while_replaced(topic, [&](const Condition& over) {
    std::vector<Task<>> tasks;
    tasks.push_back(keep_publishing(topic, over));
    tasks.push_back(keep_reading(reader, over));
    for (const auto& outcome : run_all(std::move(tasks))) {
      if (outcome.error) std::rethrow_exception(outcome.error);
    }
  });
  const int last = next_;
  run(publish_round(topic));
  run(keep_reading(reader, [&] { return seen_by_all_keys(last); }));
  EXPECT_TRUE(seen_by_all_keys(last)) << "it goes on by itself";
  for (const auto& [key, numbers] : first_seen()) EXPECT_TRUE(std::ranges::is_sorted(numbers)) << key;
}

INSTANTIATE_TEST_SUITE_P(Redis, RedisLogLosses, testing::ValuesIn(redis_logs()), port_engine_name);

// A replica takes over.
class RedisLogFailover : public RedisLogLosses {
 protected:
  static bool replicated(const RedisServer& master) {
    const std::string info = master.cli({"INFO", "replication"});
    return number_behind(info, ",offset=") == number_behind(info, "master_repl_offset:");
  }
  static int64_t number_behind(const std::string& info, const std::string& name) {
    const size_t at = info.find(name);
    return at == std::string::npos ? -1 : std::stoll(info.substr(at + name.size()));
  }
};

TEST_P(RedisLogFailover, what_the_replica_has_heard_of_arrives_and_what_was_committed_does_not_come_again) {
  const std::string topic = new_topic(1);
  const std::string group = unique("group");
  const std::vector<Position> positions = publish_numbers(topic, "key", 100);
  LogReader& reader = this->reader(group, {topic}, {.most = 40});
  ASSERT_TRUE(read_until_seen({&reader}, 40));
  run(reader.commit());
  const size_t committed = history_.seen().size();
  const std::string place = redis::LogKeys({topic, 0}).messages;
  ASSERT_TRUE(holds_within(1min, [&] { return replicated(shared_redis_cluster().master_of(place)); }));
  run(reader.leave());
  engine().replace_server_of(place);

  LogReader& next = this->reader(group, {topic});
  run(keep_reading(next, [&] { return history_.seen().size() >= 100; }));
  EXPECT_EQ(history_.seen().size(), 100U) << committed << " were committed";
  EXPECT_EQ(history_.unbroken_runs().at("key"), 100);
  EXPECT_GT(publish({topic, "key", "100"}).offset, positions.back().offset);
}

TEST_P(RedisLogFailover, what_the_other_masters_took_is_known_while_one_does_not_answer) {
  constexpr int32_t partitions = 12;
  const std::string topic = new_topic(partitions);
  const auto master_of = [&topic](int32_t partition) -> RedisServer& {
    return shared_redis_cluster().master_of(redis::LogKeys({topic, partition}).messages);
  };
  RedisServer& silent = master_of(0);
  std::vector<Message> messages;
  std::vector<bool> answered;
  for (int32_t i = 0; i < 2 * partitions; ++i) {
    messages.push_back({topic, key_in(i % partitions, partitions), std::to_string(i)});
    answered.push_back(&master_of(i % partitions) != &silent);
  }
  ASSERT_TRUE(std::ranges::find(answered, true) != answered.end());
  silent.pause();
  const std::vector<Published> outcomes = run(log().publish(messages));
  silent.resume();
  shared_redis_cluster().wait_until_healthy();
  for (size_t i = 0; i < messages.size(); ++i) {
    EXPECT_EQ(std::holds_alternative<Position>(outcomes[i]), answered[i]) << i;
    EXPECT_NE(std::holds_alternative<messaging::Unknown>(outcomes[i]), answered[i]) << i;
  }
  EXPECT_TRUE(eventually([&] {
    try {
      publish(messages[0]);
      return true;
    } catch (const EngineUnavailable&) {
      return false;
    }
  }));
}

std::vector<PortEngine<TestedLog>> clusters() {
  std::vector<PortEngine<TestedLog>> engines = redis_logs();
  std::erase_if(engines, [](const auto& engine) { return engine.name != "redis_cluster"; });
  return engines;
}
INSTANTIATE_TEST_SUITE_P(Redis, RedisLogFailover, testing::ValuesIn(clusters()), port_engine_name);

// On a server of its own.
class RedisLogAlone : public TaskFixture {
 protected:
  static RedisEngine engine_of(const RedisServer& server) {
    const auto config = [url = server.url()] {
      return redis::RedisConfig{.url = url, .connect_timeout = 10s, .command_timeout = 10s};
    };
    return {.name = "alone", .config = config, .wipe = {}, .replace_server_of = {}};
  }
  LogReader reader(OpenRedisLog& open, const std::string& topic) {
    return {open.log().subscribe({"group", {topic}}, io_.get_executor()), {}, clock_, history_};
  }
  static int64_t scripts_run(const RedisServer& server) {
    const std::string stats = server.cli({"INFO", "commandstats"});
    const std::string name = "cmdstat_evalsha:calls=";
    const size_t at = stats.find(name);
    return at == std::string::npos ? 0 : std::stoll(stats.substr(at + name.size()));
  }
  Task<> publish_later(messaging::MessageLog& log, messaging::Message message) {
    co_await clock_.sleep_for(50ms);
    co_await publish_one(log, std::move(message));
  }
  static Task<> read_for(LogReader& reader, Duration patience) { co_await reader.read(patience); }

  SystemClock clock_;
  LogHistory history_;
};

TEST_F(RedisLogAlone, a_full_redis_takes_nothing_more_but_is_read_and_goes_on_when_there_is_room) {
  SLUICE_NEEDS(RedisServer::why_missing());
  RedisServer server({.settings = {"maxmemory 6mb", "maxmemory-policy noeviction"}});
  OpenRedisLog open(engine_of(server), io_);
  run(open.log().declare({{"topic", 1, 1h}}));
  LogReader reader = this->reader(open, "topic");
  run(reader.read());
  int stored = 0;
  const std::string payload(100'000, '1');
  EXPECT_THROW(
      while (stored < 200) {
        run(publish_one(open.log(), {"topic", "key", payload}));
        ++stored;
      },
      EngineUnavailable);
  EXPECT_GT(stored, 10);
  EXPECT_LT(stored, 100);
  EXPECT_TRUE(eventually([&] {
    run(reader.read());
    return history_.seen().size() >= static_cast<size_t>(stored);
  }));
  const std::vector<messaging::GroupView> groups = run(open.view().groups());
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].lag, 0) << "it could commit";

  run(open.view().trim("topic", 0, groups[0].committed.value()));
  run(publish_one(open.log(), {"topic", "key", payload}));
  run(reader.leave());
  run(open.close());
}

TEST_F(RedisLogAlone, an_idle_member_of_sixty_partitions_costs_little) {
  SLUICE_NEEDS(RedisServer::why_missing());
  RedisServer server;
  OpenRedisLog open(engine_of(server), io_, 1min);
  std::vector<std::string> topics;
  for (int i = 0; i < 5; ++i) topics.push_back(fmt::format("topic-{}", i));
  for (const std::string& topic : topics) run(open.log().declare({{topic, 12, 1h}}));
  LogReader reader{open.log().subscribe({"group", topics}, io_.get_executor()), {}, clock_, history_};
  run(reader.read(1s));
  const int64_t before = scripts_run(server);
  run(reader.read(6s));
  const int64_t commands = scripts_run(server) - before;
  EXPECT_GE(commands, 60) << "it keeps its leases";
  EXPECT_LE(commands, 6 * 60) << "in six seconds";
  run(reader.leave());
  run(open.close());
}

// The remains of a member that died before Redis' clock went back by a day.
TEST_F(RedisLogAlone, a_clock_that_went_back_lets_no_dead_member_keep_its_partitions) {
  SLUICE_NEEDS(RedisServer::why_missing());
  RedisServer server;
  OpenRedisLog open(engine_of(server), io_);
  run(open.log().declare({{"topic", 1, 1h}}));
  run(publish_one(open.log(), {"topic", "key", "0"}));
  const auto tomorrow =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch() + 24h);
  const std::string until = std::to_string(tomorrow.count());
  const std::string groups = redis::LogKeys({"topic", 0}).groups;
  server.cli({"ZADD", redis::log_members_key("group"), until, "dead topic"});
  server.cli(
      {"HSET", groups, "owner:group", "dead", "token:group", "1", "until:group", until, "session:group", "2000"});
  messaging::SubscriptionConfig config{.group = "group", .topics = {"topic"}, .session = 2s};
  LogReader reader{open.log().subscribe(config, io_.get_executor()), {}, clock_, history_};
  EXPECT_TRUE(eventually([&] {
    run(reader.read());
    return history_.seen().size() == 1;
  }));
  run(reader.leave());
  run(open.close());
}

TEST_F(RedisLogAlone, messages_arrive_also_where_no_word_of_them_does) {
  SLUICE_NEEDS(RedisServer::why_missing());
  RedisServer server;
  OpenRedis open(engine_of(server), io_);
  SeededRandom random(1);
  redis::RedisLog log(open.redis(), clock_, random, "deaf");
  run(log.declare({{"topic", 3, 1h}}));
  LogReader reader{log.subscribe({"group", {"topic"}}, io_.get_executor()), {}, clock_, history_};
  run(reader.read());
  // Again where it took long: this machine may have stood still, which lets no message arrive sooner.
  Duration soonest = Duration::max();
  for (size_t attempt = 0; attempt < 3 && soonest >= 5s; ++attempt) {
    std::vector<Task<>> both;
    both.push_back(read_for(reader, 1min));
    both.push_back(publish_later(log, {"topic", "key", std::to_string(attempt)}));
    const Instant asked = clock_.now();
    run_all(std::move(both));
    EXPECT_EQ(history_.seen().size(), attempt + 1);
    soonest = std::min(soonest, std::chrono::ceil<Duration>(clock_.now() - asked));
  }
  EXPECT_LT(soonest, 5s);
  run(reader.leave());
  run(open.close());
}

}  // namespace
}  // namespace sluice::test
