// The message log as an operator meets it: `sluice migrate`, `serve`, `log` and `dlq`, and the routes for
// administrators, on each engine.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messaging/wanted_job.h"
#include "tests/scenario/log_server.h"
#include "tests/support/kafka_broker.h"
#include "tests/support/needs.h"
#include "tests/support/process.h"
#include "tests/support/redis_server.h"

namespace sluice::test {
namespace {

using server::LogDesk;
using server::LogEngine;
using testing::HasSubstr;
using testing::Not;

constexpr const char* topic = events_topic;

sql::TxTask<> append(sql::Tx& tx, sql::Outbox outbox, messaging::OutboxMessage message) {
  co_await outbox.append(tx, std::move(message));
}

// Publishes a change as a service does.
Task<> tell(sql::Database& database, sql::Outbox outbox, messaging::OutboxMessage message) {
  co_await database.transact(append, outbox, std::move(message));
  outbox.announce();
}

// A message of `topic` that a consumer has given up.
Task<std::string> make_letter(LogDesk& desk, std::string key, std::string payload, std::string reason) {
  messaging::MessageLog& log = desk.parts.log();
  messaging::Message message{topic, std::move(key), std::move(payload), {{"message-type", "PaymentFailed"}}};
  const messaging::Position at = co_await publish_one(log, std::move(message));
  const std::vector<messaging::Delivery> found = co_await desk.parts.view().read(at.topic, at.partition, at.offset, 1);
  const messaging::Failure failure{std::move(reason), "the gateway said no", 3, desk.clock.wall(), "worker-1"};
  messaging::Message letter = messaging::write_letter("dead-letters", "orders", found.at(0), failure);
  const messaging::Position position = co_await publish_one(log, std::move(letter));
  co_return messaging::letter_id(position);
}

// A server, its engines, and a desk beside it.
class Messaging : public testing::TestWithParam<LogEngine>, protected LogServer {
 protected:
  void SetUp() override {
    std::string config;
    if (GetParam() == LogEngine::redis) {
      SLUICE_NEEDS(RedisServer::why_missing());
      redis_.emplace();
      config = redis_at(redis_->url());
    }
    if (GetParam() == LogEngine::kafka) {
      SLUICE_NEEDS(KafkaBroker::why_missing());
      kafka_.emplace();
      config = fmt::format("[kafka]\nbrokers = \"{}\"\n", kafka_->address());
    }
    start_with_log(GetParam() == LogEngine::embedded ? Records::sqlite : Records::postgres, GetParam(), config);
    key_ = make_key("ADMIN");
  }
  void TearDown() override { stop_with_log(); }

  // How many pages there are, a letter each.
  int pages(const std::string& target) const {
    std::string cursor;
    for (int count = 1;; ++count) {
      const std::string body = ask("GET", target + cursor).body;
      const size_t next = body.find(R"("next":")");
      if (next == std::string::npos || count > 10) return count;
      const size_t begin = next + 8;
      cursor = "&cursor=" + body.substr(begin, body.find('"', begin) - begin);
    }
  }
  // The output of a command once it contains `text`: another process is on its way to bring it about.
  std::string eventually(const std::vector<std::string>& command, const std::string& text) const {
    const auto end = std::chrono::steady_clock::now() + 2min;
    while (true) {
      std::string output = sluice(command).output;
      if (output.contains(text) || std::chrono::steady_clock::now() > end) return output;
    }
  }

  std::optional<RedisServer> redis_;
  std::optional<KafkaBroker> kafka_;
};

TEST_P(Messaging, migrate_makes_the_topics_and_tail_shows_what_is_in_them) {
  EXPECT_THAT(migrated_, HasSubstr("topics: up to date"));
  EXPECT_THAT(sluice({"log", "topics"}).output, HasSubstr("jobs.enqueue                             12         7d"));
  for (int i = 0; i < 20; ++i) {
    messaging::Message message{topic, fmt::format("key-{}", i % 5), fmt::format(R"({{"number":{}}})", i), {{"n", "v"}}};
    run(publish_one(desk_->parts.log(), std::move(message)));
  }
  const std::string last = sluice({"log", "tail", topic, "-n", "3"}).output;
  EXPECT_EQ(std::ranges::count(last, '\n'), 3) << last;
  EXPECT_THAT(last, HasSubstr(R"("key":"key-4","headers":{"n":"v"},"payload":{"number":19}})"));
  const std::string of_key = sluice({"log", "tail", topic, "--all", "--key", "key-2"}).output;
  EXPECT_EQ(std::ranges::count(of_key, '\n'), 4) << of_key;
  EXPECT_THAT(of_key, Not(HasSubstr("key-1")));
  EXPECT_EQ(std::ranges::count(sluice({"log", "tail", topic, "--since", "1h"}).output, '\n'), 20);
  const bool kafka = GetParam() == LogEngine::kafka;
  EXPECT_EQ(ask("GET", "/readyz").body.contains("kafka"), kafka);
}

TEST_P(Messaging, tail_follows_what_comes) {
  const messaging::Message message{topic, "key", R"({"number":1})"};
  run(publish_one(desk_->parts.log(), message));
  Process tail({.arguments = {binary("sluice"), "log", "tail", topic, "--follow", "--config", config_}});
  EXPECT_THAT(tail.wait_for_line("number", 2min), HasSubstr(R"({"number":1})"));
  run(publish_one(desk_->parts.log(), {topic, "key", R"({"number":2})"}));
  run(publish_one(desk_->parts.log(), {topic, "other", R"({"number":3})"}));
  std::string came = tail.wait_for_line("number", 2min);
  came += tail.wait_for_line("number", 2min);
  EXPECT_THAT(came, testing::AllOf(HasSubstr(R"({"number":2})"), HasSubstr(R"({"number":3})")));
  tail.signal(SIGINT);
  tail.wait();
}

TEST_P(Messaging, groups_shows_how_far_each_group_is) {
  EXPECT_THAT(eventually({"log", "groups"}, "jobs.enqueue"), testing::ContainsRegex("jobs +jobs.enqueue +0 +.* 0 "));
  EXPECT_THAT(sluice({"log", "groups", "--group", "nobody"}).output, Not(HasSubstr("jobs.enqueue")));
}

TEST_P(Messaging, who_asks_wrongly_is_told_what_to_do) {
  const CommandResult unknown = sluice({"log", "tail", "no-such-topic"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.output, HasSubstr("there is no topic no-such-topic; `sluice log topics` lists all"));
  EXPECT_EQ(sluice({"log", "tail", topic, "--since", "yesterday"}).code, 2);
  EXPECT_EQ(sluice({"log", "tail", topic, "--partition", "99"}).code, 1);
  EXPECT_EQ(sluice({"dlq", "replay"}).code, 2);
  EXPECT_EQ(sluice({"dlq", "show", "nonsense"}).code, 2);
  EXPECT_EQ(sluice({"dlq", "show", "dead-letters:0:1"}).code, 1);
  EXPECT_EQ(sluice({"dlq", "replay", "dead-letters:0:1"}).code, 1);
  EXPECT_EQ(sluice({"dlq", "purge", "outbox:9:1"}).code, 1);
  EXPECT_EQ(ask("POST", "/api/v1/dead-letters/purge", "{}").status, 422);
  EXPECT_EQ(ask("POST", "/api/v1/dead-letters/purge", R"({"al":true})").status, 400);
  EXPECT_EQ(ask("GET", "/api/v1/dead-letters?from=yesterday").status, 422);
  EXPECT_EQ(ask("GET", "/api/v1/dead-letters?limit=0").status, 422);
  EXPECT_EQ(ask("GET", "/api/v1/dead-letters/dead-letters:0:1").status, 404);
  key_ = "sk_wrong";
  EXPECT_EQ(ask("GET", "/api/v1/dead-letters").status, 401);
  key_ = make_key("SERVICE");
  EXPECT_EQ(ask("GET", "/api/v1/dead-letters").status, 403);
  EXPECT_EQ(ask("POST", "/api/v1/dead-letters/replay", R"({"all":true})").status, 403);
}

TEST_P(Messaging, dead_letters_are_listed_shown_replayed_and_purged) {
  const std::string first = run(make_letter(*desk_, "a", R"({"amount":1})", "API_5XX"));
  run(make_letter(*desk_, "b", R"({"amount":2})", "API_5XX"));
  run(make_letter(*desk_, "c", "not json", "PARSE_ERROR"));

  const std::string groups = sluice({"dlq", "list"}).output;
  EXPECT_THAT(groups, HasSubstr("3 dead letters"));
  EXPECT_THAT(groups, HasSubstr("API_5XX                             2"));
  EXPECT_THAT(sluice({"dlq", "list", "--each", "--key", "a"}).output, HasSubstr(first));
  EXPECT_THAT(sluice({"dlq", "show", first}).output, HasSubstr("the gateway said no"));
  EXPECT_THAT(ask("GET", "/api/v1/dead-letters/groups").body, HasSubstr(R"("reason":"API_5XX","count":2)"));
  EXPECT_THAT(ask("GET", "/api/v1/dead-letters?reason=PARSE_ERROR").body, HasSubstr(R"("key":"c")"));
  EXPECT_THAT(ask("GET", "/api/v1/dead-letters/" + first).body, HasSubstr(R"("payload":{"amount":1})"));
  EXPECT_EQ(pages("/api/v1/dead-letters?limit=1"), 3);

  EXPECT_THAT(sluice({"dlq", "replay", "--reason", "API_5XX", "--dry-run"}).output, HasSubstr("2 would be replayed"));
  EXPECT_THAT(sluice({"dlq", "list"}).output, HasSubstr("3 dead letters"));
  EXPECT_THAT(sluice({"dlq", "replay", first}).output, HasSubstr("1 replayed, 0 refused"));
  EXPECT_THAT(ask("POST", "/api/v1/dead-letters/replay", R"({"reason":"API_5XX"})").body,
              HasSubstr(R"({"selected":1,"settled":1,"refused":0,"remaining":0})"));
  const std::string replayed = sluice({"log", "tail", topic, "--all", "--key", "a"}).output;
  EXPECT_EQ(std::ranges::count(replayed, '\n'), 2) << replayed;

  EXPECT_THAT(sluice({"dlq", "purge", "--all"}).output, HasSubstr("1 purged, 0 refused"));
  EXPECT_THAT(sluice({"dlq", "list"}).output, HasSubstr("0 dead letters"));
}

TEST_P(Messaging, what_a_service_tells_with_its_change_gets_into_the_log) {
  server::Engines engines(loaded_->settings, {server::Service::accounts}, desk_->clock,
                          server::Engines::Access::beside_owner);
  for (int version = 1; version <= 3; ++version) {
    messaging::OutboxMessage message{topic, "payment", "payment-1", version, "PaymentSuccess", "{}"};
    message.id = messaging::MessageId::make(desk_->clock.wall(), desk_->random);
    run(tell(engines.of(server::Service::accounts), desk_->parts.outbox(), std::move(message)));
  }
  const std::string told = eventually({"log", "tail", topic}, R"("aggregate-version":"3")");
  EXPECT_THAT(told, testing::ContainsRegex(R"("aggregate-version":"1"(.|\n)*"2"(.|\n)*"aggregate-version":"3")"));
}

TEST_P(Messaging, a_row_that_the_log_refuses_waits_for_an_operator) {
  if (GetParam() == LogEngine::embedded) GTEST_SKIP() << "the change itself is refused there: outbox_contract.cpp";
  server::Engines engines(loaded_->settings, {server::Service::accounts}, desk_->clock,
                          server::Engines::Access::beside_owner);
  messaging::OutboxMessage message{"undeclared", "payment", "payment-2", 1, "PaymentSuccess", "{}"};
  message.id = messaging::MessageId::make(desk_->clock.wall(), desk_->random);
  run(tell(engines.of(server::Service::accounts), desk_->parts.outbox(), std::move(message)));

  const std::string listed = eventually({"dlq", "list", "--each"}, "REJECTED");
  ASSERT_THAT(listed, HasSubstr("outbox:0:"));
  const size_t start = listed.find("outbox:0:");
  const std::string id = listed.substr(start, listed.find(' ', start) - start);
  EXPECT_THAT(sluice({"dlq", "show", id}).output, HasSubstr("payment-2"));
  EXPECT_THAT(sluice({"dlq", "purge", id}).output, HasSubstr("1 purged"));
  EXPECT_THAT(sluice({"dlq", "list"}).output, HasSubstr("0 dead letters"));
}

// The value of `"name":` in a text of JSON, a string without its quotes.
std::string value_of(const std::string& json, const std::string& name) {
  const std::string before = fmt::format(R"("{}":")", name);
  const size_t begin = json.find(before);
  if (begin == std::string::npos) return "";
  return json.substr(begin + before.size(), json.find('"', begin + before.size()) - begin - before.size());
}

TEST_P(Messaging, jobs_that_a_service_asks_for_with_its_changes_are_added_once_and_in_order_and_end) {
  server::Engines engines(loaded_->settings, {server::Service::accounts}, desk_->clock,
                          server::Engines::Access::beside_owner);
  for (int version = 1; version <= 3; ++version) {
    const messaging::WantedJob wanted{.kind = "greet", .payload = fmt::format(R"({{"number":{}}})", version)};
    const auto id = messaging::MessageId::make(desk_->clock.wall(), desk_->random);
    messaging::OutboxMessage message = messaging::ask_for_job(wanted, {"user", "user-1", version}, id);
    run(tell(engines.of(server::Service::accounts), desk_->parts.outbox(), std::move(message)));
  }
  const std::string claim = R"({"worker":"w","kinds":["greet"],"limit":1,"waitMs":30000})";
  for (int number = 1; number <= 3; ++number) {
    const std::string claimed = ask("POST", "/api/v1/jobs/claim", claim).body;
    EXPECT_THAT(claimed, HasSubstr(fmt::format(R"({{"number":{}}})", number)));
    const std::string id = value_of(claimed, "id");
    const std::string done =
        fmt::format(R"({{"jobs":[{{"id":"{}","lockToken":"{}"}}]}})", id, value_of(claimed, "lockToken"));
    EXPECT_THAT(ask("POST", "/api/v1/jobs/complete", done).body, HasSubstr(R"("accepted":true)"));
    EXPECT_EQ(value_of(ask("GET", "/api/v1/jobs/" + id).body, "status"), "succeeded");
  }
  EXPECT_THAT(ask("POST", "/api/v1/jobs/claim", R"({"worker":"w","kinds":["greet"],"limit":1})").body,
              HasSubstr(R"("jobs":[])"));
}

INSTANTIATE_TEST_SUITE_P(, Messaging, testing::Values(LogEngine::embedded, LogEngine::redis, LogEngine::kafka),
                         [](const auto& info) { return std::string(enum_name(info.param)); });

}  // namespace
}  // namespace sluice::test
