// The log while Kafka is away, slow or full.
#include "tests/contract/kafka_engines.h"
#include "tests/support/kafka_cluster.h"
#include "tests/support/needs.h"
#include "tests/support/run_length.h"

namespace sluice::test {
namespace {

using messaging::Message;
using messaging::Position;
using messaging::Published;

class KafkaOutage : public TaskFixture {
 protected:
  void SetUp() override { SLUICE_NEEDS(KafkaBroker::why_missing()); }
  void TearDown() override {
    if (reader_) run(reader_->leave());
    reader_.reset();
    if (open_) run(open_->close());
    open_.reset();
  }

  void open(kafka::KafkaConfig config) { open_.emplace(std::move(config), io_); }
  kafka::KafkaLog& log() { return open_->log(); }

  std::string new_topic() {
    std::string topic = unique("outage");
    run(keep_declaring({.name = topic, .partitions = 1}));
    return topic;
  }
  void read(const std::string& topic, Duration session = 10s) {
    auto subscription =
        log().subscribe({.group = unique("group"), .topics = {topic}, .session = session}, io_.get_executor());
    reader_ = std::make_unique<LogReader>(std::move(subscription), LogReader::Habits{}, clock_, history_);
  }

  Published publish(Message message) { return run(log().publish({std::move(message)})).at(0); }
  void publish_until_taken(const Message& message) {
    ASSERT_TRUE(eventually([&] { return takes(message); }));
  }
  bool reaches() {
    try {
      run(log().reach());
      return true;
    } catch (const EngineUnavailable&) {
      return false;
    }
  }
  bool takes(const Message& message) {
    try {
      return std::holds_alternative<Position>(publish(message));
    } catch (const EngineUnavailable&) {
      return false;
    }
  }

  // Until it is done: three brokers that have just started may be busy with electing for longer than a call waits.
  Task<> keep_declaring(messaging::Topic topic) {
    const Deadline limit = Deadline::after(clock_, 2min);
    for (bool declared = false; !declared;) {
      if (limit.passed(clock_)) throw std::runtime_error("not declared within two minutes");
      try {
        std::vector<messaging::Topic> topics{topic};
        co_await log().declare(std::move(topics));
        declared = true;
      } catch (const EngineUnavailable&) {
      }
    }
  }
  // Reads until `done`, for two minutes at most, also while brokers fail.
  Task<> keep_reading(std::function<bool()> done) {
    const Deadline limit = Deadline::after(clock_, 2min);
    while (!done()) {
      if (limit.passed(clock_)) throw std::runtime_error("not read within two minutes");
      try {
        co_await reader_->read();
      } catch (const EngineUnavailable&) {
        ++failed_reads_;
      }
    }
  }
  // The next number of the key, again and again until it is acknowledged.
  Task<> keep_publishing(std::string topic, std::string key, std::function<bool()> done) {
    const Deadline limit = Deadline::after(clock_, 2min);
    while (!done()) {
      if (limit.passed(clock_)) throw std::runtime_error("not published within two minutes");
      Message message{topic, key, std::to_string(acknowledged_[key])};
      try {
        co_await publish_one(log(), std::move(message));
        ++acknowledged_[key];
      } catch (const EngineUnavailable&) {
        ++failed_publishes_;
      }
    }
  }
  Task<std::vector<Published>> resume_a_little_later(KafkaBroker& broker) {
    co_await clock_.sleep_for(200ms);
    broker.resume();
    co_return std::vector<Published>{};
  }
  // More may have been stored: unacknowledged messages may be in the log.
  bool all_acknowledged_were_seen() const {
    const auto seen = history_.unbroken_runs();
    return std::ranges::all_of(acknowledged_, [&](const auto& key) {
      const auto found = seen.find(key.first);
      return key.second == 0 || (found != seen.end() && found->second >= key.second);
    });
  }
  size_t all_acknowledged() const {
    size_t all = 0;
    for (const auto& [key, count] : acknowledged_) all += static_cast<size_t>(count);
    return all;
  }

  SystemClock clock_;
  std::optional<KafkaCluster> cluster_;  // must be there when the reader leaves
  std::optional<OpenKafkaLog> open_;
  LogHistory history_;
  std::unique_ptr<LogReader> reader_;
  std::map<std::string, int> acknowledged_;
  int failed_publishes_ = 0;
  int failed_reads_ = 0;
};

TEST_F(KafkaOutage, a_broker_that_stops_is_reported_in_time_and_found_again) {
  KafkaBroker& broker = shared_kafka().broker();
  open({.brokers = broker.address(), .send_timeout = 1s, .request_timeout = 1s});
  const std::string topic = new_topic();
  read(topic, 2s);
  publish_until_taken({topic, "key", "0"});
  run(keep_reading([this] { return !history_.seen().empty(); }));

  broker.stop();
  // Again where it took long: this machine may have stood still, which makes no answer come sooner.
  Duration soonest = Duration::max();
  for (int attempt = 0; attempt < 5 && soonest >= 4s; ++attempt) {
    const Instant asked = clock_.now();
    EXPECT_THROW(publish({topic, "key", "1"}), EngineUnavailable);
    soonest = std::min(soonest, std::chrono::ceil<Duration>(clock_.now() - asked));
  }
  EXPECT_LT(soonest, 4s) << "without its own setting it would be five";
  EXPECT_THROW(run(log().topics()), EngineUnavailable);

  broker.start();
  while (!takes({topic, "key", "2"})) {
  }
  run(keep_reading([this] { return history_.payloads().back() == "2"; }));
}

TEST_F(KafkaOutage, whether_brokers_answer_is_known_within_a_second_or_two_however_many_ask) {
  KafkaBroker& broker = shared_kafka().broker();
  open({.brokers = broker.address()});
  ASSERT_TRUE(eventually([&] { return reaches(); }));
  broker.pause();
  const Instant asked = clock_.now();
  std::vector<Task<>> questions;
  for (int i = 0; i < 100; ++i) questions.push_back(log().reach());
  for (const auto& outcome : run_all(std::move(questions))) {
    ASSERT_TRUE(outcome.error);
    EXPECT_THROW(std::rethrow_exception(outcome.error), EngineUnavailable);
  }
  EXPECT_LT(clock_.now() - asked, 60s) << "one after the other they would take a hundred";
  broker.resume();
  EXPECT_TRUE(eventually([&] { return reaches(); }));
}

TEST_F(KafkaOutage, a_topic_made_again_under_a_reader_is_read_from_its_beginning) {
  KafkaBroker& broker = shared_kafka().broker();
  open({.brokers = broker.address()});
  const std::string topic = new_topic();
  read(topic);
  for (const char* payload : {"0", "1", "2"}) EXPECT_TRUE(takes({topic, "key", payload}));
  run(keep_reading([this] { return history_.seen().size() == 3; }));

  KafkaBroker::run_tool(
      {"org.apache.kafka.tools.TopicCommand", "--bootstrap-server", broker.address(), "--delete", "--topic", topic});
  run(log().declare({{.name = topic, .partitions = 1}}));
  while (!takes({topic, "key", "new"})) {
  }
  run(keep_reading([this] { return history_.seen().back().payload == "new"; }));
  EXPECT_EQ(history_.seen().back().position.offset, 0);
}

TEST_F(KafkaOutage, a_log_that_was_there_before_its_broker_works_when_it_comes) {
  KafkaBroker& broker = shared_kafka().broker();
  open({.brokers = broker.address()});
  const std::string topic = new_topic();
  run(open_->close());
  broker.stop();
  open({.brokers = broker.address(), .send_timeout = 1s});
  read(topic, 2s);
  EXPECT_THROW(publish({topic, "key", "0"}), EngineUnavailable);
  broker.start();
  while (!takes({topic, "key", "1"})) {
  }
  run(keep_reading([this] { return !history_.seen().empty(); }));
}

TEST_F(KafkaOutage, a_commit_that_is_not_answered_is_not_claimed_and_succeeds_later) {
  KafkaBroker& broker = shared_kafka().broker();
  open({.brokers = broker.address(), .send_timeout = 30s, .request_timeout = 1s});
  const std::string topic = new_topic();
  EXPECT_TRUE(takes({topic, "key", "0"}));
  auto subscription = log().subscribe({.group = unique("group"), .topics = {topic}}, io_.get_executor());
  messaging::Fetched fetched;
  while (fetched.deliveries.empty()) fetched = run(subscription->fetch(10, Deadline::after(clock_, 10s)));
  const messaging::AssignmentRef assignment = fetched.deliveries[0].assignment;
  broker.pause();
  EXPECT_THROW(run(subscription->commit({{assignment, 1}})), EngineUnavailable);
  broker.resume();
  EXPECT_TRUE(eventually([&] {
    try {
      run(subscription->commit({{assignment, 1}}));
      return true;
    } catch (const EngineUnavailable&) {
      return false;
    }
  }));
  fetched = {};
  run(subscription->close());
}

TEST_F(KafkaOutage, more_than_may_wait_is_refused_before_anything_is_sent) {
  KafkaBroker& broker = shared_kafka().broker();
  open({.brokers = broker.address(), .send_timeout = 30s, .max_pending = 10});
  const std::string topic = new_topic();
  EXPECT_TRUE(takes({topic, "key", "first"}));
  broker.pause();
  std::vector<Task<std::vector<Published>>> calls;
  calls.push_back(log().publish(std::vector<Message>(10, {topic, "key", "waits"})));
  calls.push_back(log().publish({{topic, "key", "too much"}}));
  calls.push_back(resume_a_little_later(broker));
  const auto outcomes = run_all(std::move(calls));
  ASSERT_FALSE(outcomes[0].error);
  EXPECT_TRUE(std::holds_alternative<Position>(outcomes[0].value->at(9)));
  EXPECT_THROW(std::rethrow_exception(outcomes[1].error), Overloaded);
  EXPECT_EQ(run(log().read(topic, 0, 0, 100)).size(), 11U);
}

TEST_F(KafkaOutage, a_caller_that_leaves_does_not_wait_for_the_broker) {
  KafkaBroker& broker = shared_kafka().broker();
  open({.brokers = broker.address(), .send_timeout = 1min});
  const std::string topic = new_topic();
  EXPECT_TRUE(takes({topic, "key", "0"}));
  broker.pause();
  const Instant asked = clock_.now();
  auto call = log().publish({{topic, "key", "1"}, {topic, "key", "2"}});
  EXPECT_THROW(run(with_deadline(clock_, Deadline::after(clock_, 50ms), "test", std::move(call))), DeadlineExceeded);
  EXPECT_LT(clock_.now() - asked, 50s) << "the broker would be waited for for a minute";
  broker.resume();
  EXPECT_TRUE(takes({topic, "key", "3"}));
}

TEST_F(KafkaOutage, what_other_brokers_took_is_known_while_a_partition_has_no_leader) {
  KafkaCluster cluster;
  KafkaBroker::run_tool({"org.apache.kafka.tools.TopicCommand", "--bootstrap-server", cluster.addresses(), "--create",
                         "--topic", "parted", "--replica-assignment", "1,2,3", "--config", "min.insync.replicas=1"});
  open({.brokers = cluster.addresses(), .send_timeout = 10s});
  std::vector<Message> messages;
  for (int32_t i = 0; i < 6; ++i) messages.push_back({"parted", key_in(i % 3, 3), std::to_string(i)});
  while (!takes(messages[0]) || !takes(messages[1]) || !takes(messages[2])) {
  }
  EXPECT_EQ(run(log().partitions("parted")), 3);
  cluster.broker(2).kill();
  const std::vector<Published> outcomes = run(log().publish(messages));
  for (const size_t taken : {0U, 2U, 3U, 5U}) EXPECT_TRUE(std::holds_alternative<Position>(outcomes[taken])) << taken;
  EXPECT_TRUE(std::holds_alternative<messaging::Unknown>(outcomes[1]));
  EXPECT_FALSE(std::holds_alternative<Position>(outcomes[4]));
  EXPECT_THROW(publish(messages[1]), EngineUnavailable) << "nothing is known of it";
  cluster.broker(2).start();
  while (!takes(messages[1])) {
  }
}

TEST_F(KafkaOutage, a_leader_killed_under_way_costs_nothing_acknowledged_and_no_order) {
  KafkaCluster& cluster = cluster_.emplace();
  open({.brokers = cluster.addresses()});
  run(keep_declaring({.name = "orders", .partitions = 6}));
  read("orders");
  // Each broker leads some of the partitions.
  const size_t to_kill = in_full() ? cluster.size() : 1;
  size_t killed = 0;
  size_t enough = 500;
  const auto done = [&] {
    if (all_acknowledged() < enough) return false;
    if (killed == to_kill) return true;
    if (killed > 0) cluster.node(killed - 1).start();
    cluster.node(killed++).kill();
    enough = all_acknowledged() + 1'000;
    return false;
  };
  std::vector<Task<>> tasks;
  for (int i = 0; i < 20; ++i) tasks.push_back(keep_publishing("orders", fmt::format("key {}", i), done));
  tasks.push_back(keep_reading([&] { return killed == to_kill && history_.seen().size() >= enough; }));
  for (const auto& outcome : run_all(std::move(tasks))) {
    if (outcome.error) std::rethrow_exception(outcome.error);
  }
  run(keep_reading([this] { return all_acknowledged_were_seen(); }));
}

}  // namespace
}  // namespace sluice::test
