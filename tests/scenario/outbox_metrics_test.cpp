// An outbox and its log as an operator sees them: metrics, and a warning in the server's log.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/log_server.h"
#include "tests/support/needs.h"
#include "tests/support/redis_server.h"

namespace sluice::test {
namespace {

using messaging::OutboxMessage;

constexpr const char* topic = events_topic;

sql::TxTask<> append(sql::Tx& tx, sql::Outbox outbox, std::vector<OutboxMessage> messages) {
  for (OutboxMessage& message : messages) co_await outbox.append(tx, std::move(message));
}

// Records in SQLite, the log in Redis: so there is something to relay.
class OutboxMetrics : public testing::Test, protected LogServer {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(RedisServer::why_missing());
    begin(Records::sqlite);
  }
  void begin(Records records) {
    redis_.emplace();
    start_with_log(records, server::LogEngine::redis, redis_at(redis_->url()));
  }
  void TearDown() override { stop_with_log(); }

  void tell(const std::string& to, int count) {
    server::Engines engines(loaded_->settings, {server::Service::accounts}, desk_->clock,
                            server::Engines::Access::beside_owner);
    std::vector<OutboxMessage> messages;
    for (int i = 0; i < count; ++i) {
      messages.push_back({to, "payment", fmt::format("{}-{}", to, i), 1, "PaymentSuccess", "{}"});
      messages.back().id = messaging::MessageId::make(desk_->clock.wall(), desk_->random);
    }
    sql::Database& database = engines.of(server::Service::accounts);
    run(database.transact(append, desk_->parts.outbox(), std::move(messages)));
  }
  // Whether /metrics has the line, now or within minutes: a measurement that took a second is repeated after twenty.
  bool shows(const std::string& line) const {
    const auto end = std::chrono::steady_clock::now() + 3min;
    while (std::chrono::steady_clock::now() < end) {
      if (("\n" + ask("GET", "/metrics").body).contains("\n" + line + "\n")) return true;
    }
    ADD_FAILURE() << ask("GET", "/metrics").body;
    return false;
  }
  // In the log, which is complete once the server has stopped.
  int64_t warnings() {
    const std::string output = server_->process().output();
    int64_t count = 0;
    for (size_t at = 0; (at = output.find("the outbox is behind", at)) != std::string::npos; ++at) ++count;
    return count;
  }

  std::optional<RedisServer> redis_;
};

TEST_F(OutboxMetrics, an_outbox_that_is_behind_is_shown_and_warned_of_once) {
  EXPECT_TRUE(shows(R"(outbox_events_lag{outbox="0"} 0)"));
  redis_->pause();
  const auto behind = std::chrono::steady_clock::now();
  tell(topic, 150);
  EXPECT_TRUE(shows(R"(outbox_events_lag{outbox="0"} 150)"));
  tell(topic, 1);
  EXPECT_TRUE(shows(R"(outbox_events_lag{outbox="0"} 151)")) << "measured once more";
  redis_->resume();
  EXPECT_TRUE(shows(R"(outbox_events_lag{outbox="0"} 0)"));
  const auto took = std::chrono::steady_clock::now() - behind;
  EXPECT_EQ(server_->stop(), 0);
  EXPECT_GE(warnings(), 1) << server_->process().output();
  EXPECT_LE(warnings(), 1 + took / 1min) << "once a minute at most: " << server_->process().output();
}

TEST_F(OutboxMetrics, rows_that_the_log_refused_for_good_are_counted) {
  tell("undeclared", 2);
  EXPECT_TRUE(shows(R"(outbox_dead_rows{outbox="0"} 2)"));
}

TEST_F(OutboxMetrics, what_a_group_has_still_to_read_and_what_was_given_up_is_counted) {
  messaging::MessageLog& log = desk_->parts.log();
  auto subscription = log.subscribe({.group = "slow", .topics = {topic}}, desk_->here.get_executor());
  const messaging::Position first = run(publish_one(log, {topic, "key", "0"}));
  messaging::Fetched fetched;
  while (fetched.deliveries.empty()) {
    fetched = run(subscription->fetch(10, Deadline::after(desk_->clock, 1s)));
  }
  run(subscription->commit({{fetched.deliveries[0].assignment, first.offset + 1}}));
  for (int i = 0; i < 4; ++i) run(publish_one(log, {topic, "key", "more"}));
  EXPECT_TRUE(shows(fmt::format(R"(kafka_consumer_lag{{topic="{}",group="slow"}} 4)", topic)));

  const messaging::Failure failure{"API_5XX", "the gateway said no", 3, desk_->clock.wall(), "worker-1"};
  run(publish_one(log, messaging::write_letter("dead-letters", "slow", fetched.deliveries[0], failure)));
  fetched = {};
  run(subscription->close());
  subscription.reset();
  stop_server();  // one that starts counts at once
  server_.emplace(SluiceOptions{.config = config_});
  EXPECT_TRUE(shows(R"(dlq_message_count{topic="dead-letters"} 1)"));
}

// Services with databases of their own.
class Outboxes : public OutboxMetrics {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(RedisServer::why_missing());
    begin(Records::postgres);
  }
  // Another server, of these roles, which believes the jobs to be in a database that is away.
  void start_without_jobs() {
    std::ostringstream config;
    config << std::ifstream(config_).rdbuf() << "[postgres.services.jobs]\nurl = \"postgresql://127.0.0.1:1/away\"\n";
    server_.emplace(SluiceOptions{.config = write("other.toml", config.str()), .flags = {"--roles", "accounts,relay"}});
  }
};

TEST_F(Outboxes, are_relayed_and_measured_while_another_one_is_away) {
  stop_server();
  tell(topic, 3);
  start_without_jobs();
  EXPECT_TRUE(shows("outbox_published_total 3"));
  EXPECT_THAT(ask("GET", "/metrics").body, testing::HasSubstr("kafka_consumer_lag"));
}

}  // namespace
}  // namespace sluice::test
