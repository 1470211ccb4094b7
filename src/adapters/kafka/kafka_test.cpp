#include <array>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/kafka/instances.h"
#include "adapters/kafka/kafka_config.h"
#include "adapters/kafka/producers.h"
#include "adapters/kafka/statistics.h"
#include "runtime/config.h"
#include "runtime/metrics.h"
#include "runtime/system_clock.h"

namespace sluice::kafka {
namespace {

using messaging::HeldBack;
using messaging::Message;
using messaging::Position;
using messaging::Published;
using messaging::Rejected;
using messaging::Unknown;
using testing::HasSubstr;
using testing::IsEmpty;

// The configured value of a librdkafka setting.
std::string told(const Instance& instance, const std::string& name) {
  std::array<char, 512> value{};
  size_t size = value.size();
  if (rd_kafka_conf_get(rd_kafka_conf(instance.get()), name.c_str(), value.data(), &size) != RD_KAFKA_CONF_OK)
    return "";
  return value.data();
}

KafkaConfig unreachable() {
  return {.brokers = "127.0.0.1:1"};
}

std::string problems_of(const std::string& text) {
  config::Loader loader;
  KafkaConfig config;
  loader.section("kafka", config, "Kafka.");
  std::string all;
  for (const config::Problem& problem : loader.load({.file = "f", .text = "[kafka]\n" + text})) all += problem.text();
  return all;
}

TEST(KafkaConfig, that_cannot_work_is_refused_with_the_remedy) {
  EXPECT_THAT(problems_of("brokers = \"a:9092,b:9093\""), IsEmpty());
  EXPECT_THAT(problems_of("brokers = \"kafka://a:9092\""), HasSubstr("must be brokers such as"));
  EXPECT_THAT(problems_of("brokers = \"a:9092,\""), HasSubstr("must be brokers such as"));
  EXPECT_THAT(problems_of("brokers = \"a\""), HasSubstr("must be brokers such as"));
  EXPECT_THAT(problems_of("user = \"relay\""), HasSubstr("SLUICE_KAFKA_PASSWORD"));
  EXPECT_THAT(problems_of("ca_file = \"ca.pem\""), HasSubstr("tls = true"));
  EXPECT_THAT(problems_of("tls = true\nkey_file = \"key.pem\""), HasSubstr("set both"));
}

TEST(Instances, a_producer_is_acknowledged_by_all_and_sends_once) {
  Instances instances(unreachable());
  const Instance producer = instances.producer();
  EXPECT_EQ(told(producer, "request.required.acks"), "-1");
  EXPECT_EQ(told(producer, "enable.idempotence"), "true");
  EXPECT_EQ(told(producer, "compression.codec"), "zstd");
  EXPECT_EQ(told(producer, "max.in.flight.requests.per.connection"), "5");
  EXPECT_EQ(told(producer, "message.timeout.ms"), "5000");
  EXPECT_EQ(told(producer, "security.protocol"), "plaintext");
}

TEST(Instances, a_consumer_commits_nothing_by_itself) {
  Instances instances(unreachable());
  const Instance consumer = instances.consumer({.group = "g", .topics = {"t"}, .session = 6s, .handover = 20s});
  EXPECT_EQ(told(consumer, "enable.auto.commit"), "false");
  EXPECT_EQ(told(consumer, "enable.auto.offset.store"), "false");
  EXPECT_EQ(told(consumer, "partition.assignment.strategy"), "cooperative-sticky");
  EXPECT_EQ(told(consumer, "session.timeout.ms"), "6000");
  EXPECT_EQ(told(consumer, "max.poll.interval.ms"), "22000");
}

TEST(Instances, users_and_tls_are_what_the_configuration_says) {
  KafkaConfig config = unreachable();
  config.user = "relay";
  config.password = "secret";
  config.tls = true;
  Instances instances(config);
  const Instance producer = instances.producer();
  EXPECT_EQ(told(producer, "security.protocol"), "sasl_ssl");
  EXPECT_EQ(told(producer, "sasl.mechanisms"), "SCRAM-SHA-512");
  EXPECT_EQ(told(producer, "sasl.username"), "relay");
  EXPECT_EQ(told(producer, "sasl.password"), "secret");
}

TEST(Instances, a_ca_file_that_is_not_there_is_one_sentence) {
  KafkaConfig config = unreachable();
  config.tls = true;
  config.ca_file = "/nowhere/ca.pem";
  Instances instances(config);
  EXPECT_THROW(instances.producer(), std::runtime_error);
}

TEST(Instances, an_instance_may_be_kept_longer_than_they_are) {
  auto instances = std::make_unique<Instances>(unreachable());
  Instance kept = instances->producer();
  instances.reset();
  EXPECT_THAT(told(kept, "bootstrap.servers"), HasSubstr("127.0.0.1"));
  kept.reset();
}

// Plays librdkafka: remembers sent messages, and reports on them.
struct Wire {
  std::vector<Publishing::Sent*> sent;
  rd_kafka_resp_err_t refuse_next = RD_KAFKA_RESP_ERR_NO_ERROR;
  Publishing::Send send = [this](Publishing::Sent& one) {
    const auto error = std::exchange(refuse_next, RD_KAFKA_RESP_ERR_NO_ERROR);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) sent.push_back(&one);
    return error;
  };

  bool report(Publishing& call, size_t i, rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_message_t report{};
    report.err = error;
    report.offset = static_cast<int64_t>(i);
    return call.report(*sent.at(i), report, send);
  }
  std::string payload(size_t i) const { return sent.at(i)->message->payload; }
};

std::shared_ptr<Publishing> call_of(std::vector<Message> messages, const std::shared_ptr<Pending>& pending) {
  return std::make_shared<Publishing>(std::move(messages), pending, Instant::max());
}

std::shared_ptr<Pending> room() {
  return std::make_shared<Pending>(10, 1000);
}

TEST(Publishing, the_next_of_a_key_is_sent_when_the_one_before_was_acknowledged) {
  Wire wire;
  const auto call = call_of({{"t", "a", "a1"}, {"t", "b", "b1"}, {"t", "a", "a2"}, {"u", "a", "other topic"}}, room());
  EXPECT_FALSE(call->start(wire.send));
  ASSERT_EQ(wire.sent.size(), 3U);
  EXPECT_EQ(wire.payload(2), "other topic");
  EXPECT_FALSE(wire.report(*call, 0));
  ASSERT_EQ(wire.sent.size(), 4U);
  EXPECT_EQ(wire.payload(3), "a2");
  EXPECT_FALSE(wire.report(*call, 1));
  EXPECT_FALSE(wire.report(*call, 2));
  EXPECT_TRUE(wire.report(*call, 3));
  const std::vector<Published> outcomes = call->take();
  EXPECT_EQ(std::get<Position>(outcomes.at(2)).offset, 3);
}

TEST(Publishing, what_follows_a_refused_one_is_held_back) {
  Wire wire;
  const auto call = call_of({{"t", "a", "a1"}, {"t", "a", "a2"}, {"t", "a", "a3"}}, room());
  call->start(wire.send);
  EXPECT_FALSE(wire.report(*call, 0));
  EXPECT_TRUE(wire.report(*call, 1, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE));
  const std::vector<Published> outcomes = call->take();
  EXPECT_TRUE(std::holds_alternative<Position>(outcomes.at(0)));
  EXPECT_TRUE(std::holds_alternative<Rejected>(outcomes.at(1)));
  EXPECT_TRUE(std::holds_alternative<HeldBack>(outcomes.at(2)));
}

TEST(Publishing, a_call_that_is_refused_at_once_ends_at_once) {
  Wire wire;
  wire.refuse_next = RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
  const auto call = call_of({{"t", "a", "a1"}, {"t", "a", "a2"}}, room());
  EXPECT_TRUE(call->start(wire.send));
  EXPECT_TRUE(std::holds_alternative<HeldBack>(call->take({"t"}).at(1)));
  EXPECT_TRUE(wire.sent.empty());
}

TEST(Publishing, an_unknown_topic_is_the_messages_fault_only_where_the_brokers_say_so) {
  for (const auto error : {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
                           RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION}) {
    Wire wire;
    const auto call = call_of({{"t", "a", "a1"}, {"u", "b", "b1"}, {"v", "c", "c1"}}, room());
    call->start(wire.send);
    wire.report(*call, 0, error);
    wire.report(*call, 1, error);
    wire.report(*call, 2);
    EXPECT_EQ(call->topics_in_doubt(), (std::set<std::string>{"t", "u"}));
    const std::vector<Published> outcomes = call->take({"u"});
    EXPECT_TRUE(std::holds_alternative<Unknown>(outcomes.at(0)));
    EXPECT_TRUE(std::holds_alternative<Rejected>(outcomes.at(1)));
    EXPECT_TRUE(std::holds_alternative<Position>(outcomes.at(2)));
  }
}

TEST(Publishing, an_unknown_outcome_ends_its_key_and_no_other) {
  Wire wire;
  const auto call =
      call_of({{"t", "a", "a1"}, {"t", "b", "b1"}, {"t", "b", "b2"}, {"t", "a", "a2"}, {"t", "c", "c1"}}, room());
  call->start(wire.send);
  EXPECT_FALSE(wire.report(*call, 0, RD_KAFKA_RESP_ERR__MSG_TIMED_OUT));
  EXPECT_FALSE(wire.report(*call, 1));
  EXPECT_FALSE(wire.report(*call, 2, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE));
  EXPECT_TRUE(wire.report(*call, 3));
  EXPECT_EQ(wire.sent.size(), 4U);
  const std::vector<Published> outcomes = call->take();
  EXPECT_TRUE(std::holds_alternative<Unknown>(outcomes.at(0)));
  EXPECT_TRUE(std::holds_alternative<Position>(outcomes.at(1)));
  EXPECT_TRUE(std::holds_alternative<Position>(outcomes.at(2)));
  EXPECT_TRUE(std::holds_alternative<HeldBack>(outcomes.at(3)));
  EXPECT_TRUE(std::holds_alternative<Rejected>(outcomes.at(4)));
}

TEST(Publishing, a_call_of_which_nothing_is_known_fails) {
  Wire wire;
  const auto call = call_of({{"t", "a", "a1"}, {"t", "b", "b1"}, {"t", "b", "b2"}}, room());
  call->start(wire.send);
  EXPECT_FALSE(wire.report(*call, 0, RD_KAFKA_RESP_ERR__MSG_TIMED_OUT));
  EXPECT_TRUE(wire.report(*call, 1, RD_KAFKA_RESP_ERR__PURGE_QUEUE));
  EXPECT_THROW(call->take(), EngineUnavailable);
}

TEST(Publishing, a_late_call_tells_what_is_known_and_sends_nothing_more) {
  Wire wire;
  const auto pending = room();
  const auto call = call_of({{"t", "a", "a1"}, {"t", "b", "b1"}, {"t", "a", "a2"}}, pending);
  call->start(wire.send);
  EXPECT_FALSE(wire.report(*call, 1));
  EXPECT_EQ(pending->expire(Instant::max()).size(), 1U);
  const std::vector<Published> outcomes = call->take();
  EXPECT_FALSE(wire.report(*call, 0));
  EXPECT_EQ(wire.sent.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Unknown>(outcomes.at(0)));
  EXPECT_TRUE(std::holds_alternative<Position>(outcomes.at(1)));
  EXPECT_TRUE(std::holds_alternative<Unknown>(outcomes.at(2)));
}

TEST(Publishing, a_late_call_stays_until_everything_was_reported) {
  Wire wire;
  const auto pending = room();
  auto call = call_of({{"t", "a", "a1"}, {"t", "a", "a2"}}, pending);
  const std::weak_ptr<Publishing> alive = call;
  call->start(wire.send);
  EXPECT_EQ(pending->expire(Instant::max()).size(), 1U);
  EXPECT_THROW(call->take(), EngineUnavailable);
  Publishing& waiting = *call;
  call.reset();
  EXPECT_FALSE(alive.expired());
  EXPECT_FALSE(wire.report(waiting, 0));
  EXPECT_TRUE(alive.expired());
  EXPECT_EQ(wire.sent.size(), 1U);
}

TEST(Pending, counts_calls_until_they_are_gone) {
  const auto pending = room();
  auto call = call_of(std::vector<Message>(10), pending);
  EXPECT_FALSE(pending->too_much());
  const auto more = call_of(std::vector<Message>(1), pending);
  EXPECT_TRUE(pending->too_much());
  call.reset();
  EXPECT_FALSE(pending->too_much());
  EXPECT_TRUE((call_of({{"t", "k", std::string(1001, 'x')}}, pending), true));
}

TEST(Producer, one_that_librdkafka_gave_up_on_says_so_and_ends_its_calls) {
  KafkaConfig config = unreachable();
  config.send_timeout = 200ms;
  Instances instances(config);
  asio::io_context io;
  SystemClock clock;
  Producer producer(instances, io.get_executor(), clock, room());
  auto call = asio::co_spawn(io, producer.publish({{"t", "a", "a1"}, {"t", "a", "a2"}}), asio::use_future);
  rd_kafka_test_fatal_error(producer.instance().get(), RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "a test");
  while (call.wait_for(0s) != std::future_status::ready) io.run_one();
  EXPECT_THROW(call.get(), EngineUnavailable);
  while (!producer.broken()) io.run_one();
  auto closed = asio::co_spawn(io, producer.close(), asio::use_future);
  while (closed.wait_for(0s) != std::future_status::ready) io.run_one();
}

TEST(Producers, a_broken_one_is_replaced_and_dropped_when_nobody_uses_it) {
  Instances instances(unreachable());
  asio::io_context io;
  SystemClock clock;
  Producers producers(instances, io.get_executor(), clock, room());
  std::shared_ptr<Producer> first = producers.current();
  const std::weak_ptr<Producer> alive = first;
  rd_kafka_test_fatal_error(first->instance().get(), RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "a test");
  while (!first->broken()) io.run_one();
  EXPECT_NE(producers.current(), first);
  producers.drop_broken();
  EXPECT_FALSE(alive.expired());
  first.reset();
  while (!alive.expired()) {
    io.poll();
    producers.drop_broken();
  }
}

TEST(Statistics, become_metrics) {
  count_statistics(R"({"name": "sluice#test-1", "msg_cnt": 7, "txmsgs": 42, "brokers": {
    "a": {"state": "UP", "txerrs": 1, "req_timeouts": 2, "rtt": {"avg": 1500}}, "b": {"state": "DOWN", "rtt": {"avg": 10}}}})");
  count_statistics("nonsense");
  const std::string exposed = metrics::expose();
  EXPECT_NE(exposed.find(R"(kafka_client_queue_messages{client="sluice#test-1"} 7)"), std::string::npos) << exposed;
  EXPECT_NE(exposed.find(R"(kafka_client_brokers_up{client="sluice#test-1"} 1)"), std::string::npos);
  EXPECT_NE(exposed.find(R"(kafka_client_request_errors{client="sluice#test-1"} 3)"), std::string::npos);
  EXPECT_NE(exposed.find(R"(kafka_client_round_trip_seconds{client="sluice#test-1"} 0.0015)"), std::string::npos);
}

}  // namespace
}  // namespace sluice::kafka
