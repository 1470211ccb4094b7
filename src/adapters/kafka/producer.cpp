#include "adapters/kafka/producer.h"

#include <algorithm>
#include <array>

#include "adapters/kafka/admin.h"
#include "adapters/kafka/statistics.h"
#include "base/check.h"
#include "runtime/deadline.h"
#include "runtime/log.h"
#include "runtime/metrics.h"
#include "runtime/pending_call.h"

namespace sluice::kafka {
namespace {

const metrics::Counter send_failed{
    "kafka_producer_send_failed_total", "Messages not acknowledged by Kafka, by reason.", {"reason"}};

// Polling goes on after others on the executor had their turn.
constexpr int events_at_once = 64;
constexpr Duration longest_question = 1s;

using Headers = std::unique_ptr<rd_kafka_headers_t, Destroy<rd_kafka_headers_destroy>>;

Headers headers_of(const messaging::Message& message) {
  if (message.headers.empty()) return nullptr;
  Headers headers(rd_kafka_headers_new(message.headers.size()));
  for (const auto& [name, value] : message.headers) {
    rd_kafka_header_add(headers.get(), name.data(), static_cast<ssize_t>(name.size()), value.data(),
                        static_cast<ssize_t>(value.size()));
  }
  return headers;
}

}  // namespace

Producer::Producer(Instances& instances, const Executor& executor, Clock& clock, std::shared_ptr<Pending> pending)
    : instances_(instances),
      clock_(clock),
      pending_(std::move(pending)),
      send_([this](Publishing::Sent& sent) { return send(sent); }),
      instance_(instances.producer()),
      queue_(rd_kafka_queue_get_main(instance_.get())),
      signal_(executor, [this] { look(); }) {
  signal_.watch(queue_);
}

Producer::~Producer() {
  QueueSignal::unwatch(queue_);
}

Task<> Producer::close() {
  rd_kafka_purge(instance_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  // librdkafka has let go of a message when it was reported.
  const Deadline deadline = Deadline::after(clock_, instances_.config().request_timeout);
  while (rd_kafka_outq_len(instance_.get()) > 0 && !deadline.passed(clock_)) {
    look();
    co_await clock_.sleep_for(1ms);
  }
  look();
}

Task<std::vector<messaging::Published>> Producer::publish(std::vector<messaging::Message> messages) {
  if (messages.empty()) co_return std::vector<messaging::Published>{};
  const Instant deadline = clock_.now() + instances_.config().send_timeout;
  const auto call = std::make_shared<Publishing>(std::move(messages), pending_, deadline);
  if (pending_->too_much()) throw Overloaded(engine_name);
  co_await await_request(call, [this](const std::shared_ptr<Publishing>& submitted) { submit(submitted); });
  const std::set<std::string> in_doubt = call->topics_in_doubt();
  if (in_doubt.empty()) co_return call->take();
  const std::set<std::string> missing_topics = co_await missing(in_doubt);
  co_return call->take(missing_topics);
}

Task<std::set<std::string>> Producer::missing(std::set<std::string> topics) {
  const Admin admin(instance_, std::min<Duration>(longest_question, instances_.config().request_timeout));
  const auto ask = [admin, topics = std::move(topics)] {
    std::set<std::string> missing;
    for (const std::string& topic : topics) {
      if (admin.is_missing(topic)) missing.insert(topic);
    }
    return missing;
  };
  try {
    co_return co_await instances_.offload().run(ask);
  } catch (const EngineUnavailable&) {
    co_return std::set<std::string>{};
  }
}

void Producer::submit(const std::shared_ptr<Publishing>& call) {
  if (call->start(send_)) resume({call});
}

// Nothing is copied but the key, which librdkafka always copies.
rd_kafka_resp_err_t Producer::send(Publishing::Sent& sent) {
  const messaging::Message& message = *sent.message;
  if (!messaging::is_topic_name(message.topic)) return RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION;
  if (messaging::bytes_of(message) > messaging::max_message_bytes) return RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
  Headers headers = headers_of(message);
  std::array<rd_kafka_vu_t, 6> values{};
  values[0].vtype = RD_KAFKA_VTYPE_RKT;
  values[0].u.rkt = topic(message.topic);
  values[1].vtype = RD_KAFKA_VTYPE_PARTITION;
  values[1].u.i32 = RD_KAFKA_PARTITION_UA;
  values[2].vtype = RD_KAFKA_VTYPE_KEY;
  values[2].u.mem = {const_cast<char*>(message.key.data()), message.key.size()};
  values[3].vtype = RD_KAFKA_VTYPE_VALUE;
  values[3].u.mem = {const_cast<char*>(message.payload.data()), message.payload.size()};
  values[4].vtype = RD_KAFKA_VTYPE_OPAQUE;
  values[4].u.ptr = &sent;
  values[5].vtype = RD_KAFKA_VTYPE_HEADERS;
  values[5].u.headers = headers.get();
  const size_t count = headers ? 6 : 5;
  const Error error(rd_kafka_produceva(instance_.get(), values.data(), count));
  if (error) return rd_kafka_error_code(error.get());
  [[maybe_unused]] const rd_kafka_headers_t* taken = headers.release();
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_topic_t* Producer::topic(const std::string& name) {
  const std::lock_guard lock(mutex_);
  TopicHandle& handle = topics_[name];
  if (!handle) handle.reset(rd_kafka_topic_new(instance_.get(), name.c_str(), nullptr));
  return handle.get();
}

void Producer::look() {
  Calls ended;
  int events = 0;
  while (const Event event{rd_kafka_queue_poll(queue_.get(), 0)}) {
    on_event(event.get(), ended);
    if (++events == events_at_once) {
      signal_.again();
      break;
    }
  }
  resume(std::move(ended));
}

void Producer::on_event(rd_kafka_event_t* event, Calls& ended) {
  switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_DR: return on_reports(event, ended);
    case RD_KAFKA_EVENT_ERROR: return on_error(event);
    case RD_KAFKA_EVENT_STATS: return count_statistics(rd_kafka_event_stats(event));
    default: return;
  }
}

void Producer::on_reports(rd_kafka_event_t* event, Calls& ended) {
  while (const rd_kafka_message_t* report = rd_kafka_event_message_next(event)) {
    if (report->err == RD_KAFKA_RESP_ERR_NO_ERROR) reachable_.works();
    if (report->err != RD_KAFKA_RESP_ERR_NO_ERROR) send_failed.with({rd_kafka_err2name(report->err)}).add();
    auto& sent = *static_cast<Publishing::Sent*>(report->_private);
    auto call = sent.call->shared_from_this();
    if (call->report(sent, *report, send_)) ended.push_back(std::move(call));
  }
}

void Producer::on_error(rd_kafka_event_t* event) {
  if (rd_kafka_event_error_is_fatal(event) == 0) return reachable_.fails(rd_kafka_event_error_string(event));
  log::error("the Kafka producer is replaced", {{"error", rd_kafka_event_error_string(event)}});
  broken_ = true;
}

void Producer::resume(Calls ended) {
  std::vector<WaitingCaller> callers;
  callers.reserve(ended.size());
  for (const auto& call : ended) callers.push_back(call->take_caller());
  ended.clear();
  resume_all(std::move(callers));
}

}  // namespace sluice::kafka
