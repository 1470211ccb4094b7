#include "adapters/sqlite/log/embedded_log.h"

#include "adapters/sql/messaging/outbox.h"
#include "adapters/sqlite/log/embedded_log_view.h"
#include "adapters/sqlite/log/log_retention.h"
#include "runtime/task_scope.h"
#include "tests/contract/consumer_suite.h"
#include "tests/contract/log_view_suite.h"
#include "tests/contract/message_log_suite.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

class OpenEmbeddedLog : public OpenPort<TestedLog>, public TestedLog {
 public:
  explicit OpenEmbeddedLog(asio::io_context& io) : scope_(io.get_executor()) {
    scope_.spawn("log retention", retention_.run());
  }
  TestedLog& port() override { return *this; }
  messaging::MessageLog& log() override { return log_; }
  messaging::LogView& view() override { return view_; }
  Duration notices_within() const override { return 500ms; }
  Task<> close() override { return scope_.close(); }

 private:
  TemporaryFolder folder_;
  SystemClock clock_;
  SeededRandom random_{1};
  sqlite::SqliteDatabase database_{{.folder = folder_.path()}, clock_};
  sqlite::EmbeddedLog log_{database_, clock_};
  sqlite::EmbeddedLogView view_{database_, log_};
  sqlite::LogRetention retention_{database_, log_.topics(), clock_, random_, 100ms};
  TaskScope scope_;
};

const PortEngine<TestedLog> embedded{
    .name = "embedded", .open = [](asio::io_context& io) { return std::make_unique<OpenEmbeddedLog>(io); }};

// Properties and faults of the embedded log alone.
class EmbeddedLogAlone : public TaskFixture {
 protected:
  void SetUp() override { run(log_.declare({{"changes", 3, 1h}})); }

  // The payloads that are in the topic, in order.
  std::vector<std::string> stored() {
    std::vector<messaging::Delivery> all;
    for (int32_t partition = 0; partition < 3; ++partition) {
      std::ranges::move(run(view_.read("changes", partition, 0, 1'000)), std::back_inserter(all));
    }
    std::ranges::sort(all, {}, &messaging::Delivery::offset);
    std::vector<std::string> payloads;
    for (const auto& each : all) payloads.emplace_back(each.payload);
    return payloads;
  }

  TemporaryFolder folder_;
  SystemClock clock_;
  sqlite::SqliteDatabase database_{{.folder = folder_.path()}, clock_};
  sqlite::EmbeddedLog log_{database_, clock_};
  sqlite::EmbeddedLogView view_{database_, log_};
};

sql::TxTask<> change(sql::Tx& tx, sql::Outbox outbox, messaging::OutboxMessage message, bool undo) {
  co_await outbox.append(tx, std::move(message));
  if (undo) throw std::runtime_error("the change is undone");
}

TEST_F(EmbeddedLogAlone, a_change_and_its_message_are_one_commit) {
  const auto outbox = sql::Outbox::into_embedded_log(log_.bell());
  SeededRandom random(1);
  const messaging::OutboxMessage message{.topic = "changes",
                                         .aggregate_type = "seat",
                                         .aggregate_id = "A7",
                                         .aggregate_version = 3,
                                         .event_type = "SeatSold",
                                         .payload = "{}",
                                         .headers = {{"traceparent", "00-1-2-01"}},
                                         .id = messaging::MessageId::make(clock_.wall(), random)};
  EXPECT_THROW(run(database_.transact(change, outbox, message, true)), std::runtime_error);
  EXPECT_TRUE(stored().empty());
  run(database_.transact(change, outbox, message, false));

  const auto found = run(view_.read("changes", messaging::partition_of("A7", 3), 0, 10));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, "A7");
  EXPECT_EQ(found[0].payload, "{}");
  EXPECT_EQ(found[0].message_id(), message.id);
  EXPECT_EQ(found[0].header("message-type"), "SeatSold");
  EXPECT_EQ(found[0].header("aggregate-type"), "seat");
  EXPECT_EQ(found[0].header("aggregate-version"), "3");
  EXPECT_EQ(found[0].header("traceparent"), "00-1-2-01");
}

TEST_F(EmbeddedLogAlone, a_change_with_a_message_that_cannot_be_stored_is_undone) {
  const auto outbox = sql::Outbox::into_embedded_log(log_.bell());
  messaging::OutboxMessage lost;
  lost.topic = "unknown";
  EXPECT_THROW(run(database_.transact(change, outbox, lost, false)), std::invalid_argument);
  messaging::OutboxMessage large;
  large.topic = "changes";
  large.payload.assign(messaging::max_message_bytes, 'x');
  EXPECT_THROW(run(database_.transact(change, outbox, large, false)), std::invalid_argument);
  EXPECT_TRUE(stored().empty());
}

TEST_F(EmbeddedLogAlone, bounds_follow_what_comes_and_what_is_removed_between_two_looks) {
  const auto bounds = [this](int32_t partition) {
    for (const messaging::TopicView& view : run(view_.topics())) {
      if (view.topic.name == "changes") return view.partitions.at(static_cast<size_t>(partition));
    }
    return messaging::PartitionBounds{};
  };
  const auto publish = [this](const std::string& key) { return run(publish_one(log_, {"changes", key, "x"})); };
  const messaging::Position first = publish("a");
  const int32_t partition = first.partition;
  EXPECT_EQ(bounds(partition).first, first.offset);
  EXPECT_EQ(bounds(partition).end, first.offset + 1);
  const messaging::Position second = publish("a");
  EXPECT_EQ(bounds(partition).first, first.offset);
  EXPECT_EQ(bounds(partition).end, second.offset + 1);
  run(view_.trim("changes", partition, second.offset));
  EXPECT_EQ(bounds(partition).first, second.offset);
  run(view_.trim("changes", partition, second.offset + 1));
  EXPECT_EQ(bounds(partition).first, bounds(partition).end);
  const messaging::Position third = publish("a");
  EXPECT_EQ(bounds(partition).first, third.offset);
  EXPECT_EQ(bounds(partition).end, third.offset + 1);
  const int32_t other = (partition + 1) % 3;
  EXPECT_EQ(bounds(other).first, bounds(other).end);
}

TEST_F(EmbeddedLogAlone, who_publishes_in_the_same_round_shares_blocks) {
  std::vector<Task<std::vector<messaging::Published>>> publishers;
  for (int i = 0; i < 64; ++i) publishers.push_back(log_.publish({{"changes", std::to_string(i), std::to_string(i)}}));
  values_of(std::move(publishers));
  EXPECT_EQ(stored().size(), 64U);
  const auto blocks = run(database_.read("SELECT count(*) FROM log_blocks"));
  EXPECT_LE(blocks.one().integer(0), 6);
}

TEST_F(EmbeddedLogAlone, large_messages_are_read_a_few_at_a_time) {
  constexpr size_t count = 10;
  for (size_t i = 0; i < count; ++i) run(publish_one(log_, {"changes", "key", std::string(3 << 20, 'x')}));
  const auto reader = log_.subscribe({.group = "readers", .topics = {"changes"}}, io_.get_executor());
  size_t seen = 0;
  while (seen < count) {
    const messaging::Fetched fetched = run(reader->fetch(1'000, Deadline::after(clock_, 10s)));
    ASSERT_FALSE(fetched.deliveries.empty());
    EXPECT_LE(fetched.deliveries.size(), 3u);
    seen += fetched.deliveries.size();
  }
  EXPECT_EQ(seen, count);
  run(reader->close());
}

TEST_F(EmbeddedLogAlone, a_failing_neighbour_in_the_commit_costs_nobody_a_message) {
  run(database_.write("CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT"));
  run(
      database_.write("CREATE TABLE children (parent INTEGER NOT NULL REFERENCES parents (id) "
                      "DEFERRABLE INITIALLY DEFERRED) STRICT"));
  const auto publish = [](sqlite::EmbeddedLog& log, std::string payload) -> Task<> {
    messaging::Message message{"changes", "key", std::move(payload)};
    co_await publish_one(log, std::move(message));
  };
  const auto orphan = [](sql::Database& database) -> Task<> {
    co_await database.write("INSERT INTO children (parent) VALUES (1)");  // fails when the group commits
  };
  std::vector<Task<>> tasks;
  for (int i = 0; i < 10; ++i) {
    if (i == 4) tasks.push_back(orphan(database_));
    tasks.push_back(publish(log_, std::to_string(i)));
  }
  const auto outcomes = run_all(std::move(tasks));
  for (size_t i = 0; i < outcomes.size(); ++i) EXPECT_EQ(outcomes[i].error != nullptr, i == 4) << i;
  EXPECT_EQ(stored(), (std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}));
}

TEST_F(EmbeddedLogAlone, a_full_disk_is_told_to_everybody_and_stores_nothing) {
  run(database_.write("PRAGMA max_page_count = 1"));  // as many as there are
  std::vector<messaging::Message> messages;
  for (int i = 0; i < 30; ++i) messages.push_back({"changes", "key", std::string(100'000, 'x')});
  EXPECT_THROW(run(log_.publish(messages)), EngineUnavailable);
  EXPECT_TRUE(stored().empty());
  run(database_.write("PRAGMA max_page_count = 1000000"));
  run(log_.publish({{"changes", "key", "after"}}));
  EXPECT_EQ(stored(), std::vector<std::string>{"after"});
}

TEST_F(EmbeddedLogAlone, what_was_published_and_committed_is_there_after_a_restart) {
  const auto elsewhere = TemporaryFolder();
  std::vector<int64_t> offsets;
  for (int start = 0; start < 3; ++start) {
    sqlite::SqliteDatabase database({.folder = elsewhere.path()}, clock_);
    sqlite::EmbeddedLog log(database, clock_);
    run(log.declare({{"changes", 1, 1h}}));
    offsets.push_back(run(publish_one(log, {"changes", "key", std::to_string(start)})).offset);
    const auto subscription = log.subscribe({.group = "readers", .topics = {"changes"}}, io_.get_executor());
    const auto fetched = run(subscription->fetch(10, Deadline::after(clock_, 5s)));
    ASSERT_EQ(fetched.deliveries.size(), 1U) << "the others were committed";
    EXPECT_EQ(fetched.deliveries[0].payload, std::to_string(start));
    run(subscription->commit({{fetched.deliveries[0].assignment, fetched.deliveries[0].offset + 1}}));
    run(subscription->close());
  }
  EXPECT_TRUE(std::ranges::is_sorted(offsets, std::less_equal{}));
}

TEST_F(EmbeddedLogAlone, a_visitor_publishes_and_is_heard) {
  sqlite::SqliteDatabase visitor({.folder = folder_.path(), .may_visit = true}, clock_);
  sqlite::EmbeddedLog log(visitor, clock_);
  const auto subscription = log_.subscribe({.group = "readers", .topics = {"changes"}}, io_.get_executor());
  EXPECT_TRUE(run(subscription->fetch(10, Deadline::after(clock_, 10ms))).empty());
  run(publish_one(log, {"changes", "key", "from outside"}));
  const auto fetched = run(subscription->fetch(10, Deadline::after(clock_, 10s)));
  ASSERT_EQ(fetched.deliveries.size(), 1U);
  EXPECT_EQ(fetched.deliveries[0].payload, "from outside");
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Embedded, MessageLogContract, testing::Values(embedded), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Embedded, MessageGroupsContract, testing::Values(embedded), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Embedded, LogViewContract, testing::Values(embedded), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Embedded, ConsumerContract, testing::Values(embedded), port_engine_name);

}  // namespace sluice::test
