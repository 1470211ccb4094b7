#include "adapters/kafka/statistics.h"

#include <functional>
#include <string>

#include "base/json_reader.h"
#include "runtime/metrics.h"

namespace sluice::kafka {
namespace {

const metrics::Gauge queued_messages{
    "kafka_client_queue_messages", "Unacknowledged messages of a producer.", {"client"}};
const metrics::Gauge queued_bytes{
    "kafka_client_queue_bytes", "Bytes of unacknowledged messages of a producer.", {"client"}};
const metrics::Gauge sent_messages{
    "kafka_client_sent_messages", "Messages sent to brokers since the client started.", {"client"}};
const metrics::Gauge received_messages{
    "kafka_client_received_messages", "Messages received from brokers since the client started.", {"client"}};
const metrics::Gauge brokers_up{"kafka_client_brokers_up", "Brokers to which a client is connected.", {"client"}};
const metrics::Gauge request_errors{
    "kafka_client_request_errors", "Requests that failed or timed out since the client started.", {"client"}};
const metrics::Gauge round_trip{
    "kafka_client_round_trip_seconds", "Recent mean round-trip time to the slowest broker.", {"client"}};

using Visit = std::function<void(std::string_view key, json::Value value)>;

void for_each_member(json::Value object, const Visit& visit) {
  if (object.kind() != json::Kind::object) return;
  json::Members members(object);
  std::string_view key;
  json::Value value;
  while (members.next(key, value)) visit(key, value);
}

double number_of(json::Value value) {
  using enum json::Kind;
  const json::Kind kind = value.kind();
  return kind == integer || kind == unsigned_integer || kind == number ? value.number() : 0;
}

struct Brokers {
  double up = 0;
  double errors = 0;
  double slowest_us = 0;
};

void add_broker(Brokers& brokers, json::Value broker) {
  for_each_member(broker, [&](std::string_view key, json::Value value) {
    if (key == "state") {
      brokers.up += value.kind() == json::Kind::string && value.string() == "UP" ? 1 : 0;
    } else if (key == "txerrs" || key == "req_timeouts") {
      brokers.errors += number_of(value);
    } else if (key == "rtt") {
      for_each_member(value, [&](std::string_view figure, json::Value of) {
        if (figure == "avg") brokers.slowest_us = std::max(brokers.slowest_us, number_of(of));
      });
    }
  });
}

}  // namespace

void count_statistics(std::string_view json) {
  const auto document = json::Document::parse(json);
  if (!document) return;
  std::string client;
  for_each_member(document->root(), [&](std::string_view key, json::Value value) {
    if (key == "name" && value.kind() == json::Kind::string) client = value.string();
  });
  Brokers brokers;
  for_each_member(document->root(), [&](std::string_view key, json::Value value) {
    if (key == "msg_cnt") queued_messages.with({client}).set(number_of(value));
    if (key == "msg_size") queued_bytes.with({client}).set(number_of(value));
    if (key == "txmsgs") sent_messages.with({client}).set(number_of(value));
    if (key == "rxmsgs") received_messages.with({client}).set(number_of(value));
    if (key != "brokers") return;
    for_each_member(value, [&](std::string_view, json::Value broker) { add_broker(brokers, broker); });
  });
  brokers_up.with({client}).set(brokers.up);
  request_errors.with({client}).set(brokers.errors);
  round_trip.with({client}).set(brokers.slowest_us / 1e6);
}

}  // namespace sluice::kafka
