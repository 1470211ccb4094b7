#include "adapters/kafka/publishing.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/check.h"

namespace sluice::kafka {
namespace {

using messaging::HeldBack;
using messaging::Message;
using messaging::Position;
using messaging::Published;
using messaging::Rejected;
using messaging::Unknown;

size_t bytes_of_all(const std::vector<Message>& messages) {
  size_t bytes = 0;
  for (const Message& message : messages) bytes += messaging::bytes_of(message);
  return bytes;
}

// The message's own fault: it would be refused again.
constexpr std::array refusals = {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_MSG,
                                 RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE,   RD_KAFKA_RESP_ERR_INVALID_RECORD,
                                 RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP,  RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT,
                                 RD_KAFKA_RESP_ERR_POLICY_VIOLATION,   RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION};
// Errors from librdkafka's metadata, which may be stale.
constexpr std::array doubts = {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
                               RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION};

bool is_one_of(const auto& errors, rd_kafka_resp_err_t error) {
  return std::ranges::find(errors, error) != errors.end();
}

void decide(Publishing::Sent& sent, Published outcome) {
  sent.outcome = std::move(outcome);
  sent.decided.store(true, std::memory_order_release);
}

}  // namespace

Publishing::Publishing(std::vector<Message> messages, std::shared_ptr<Pending> pending, Instant deadline)
    : messages_(std::move(messages)),
      pending_(std::move(pending)),
      deadline_(deadline),
      bytes_(bytes_of_all(messages_)),
      sent_(messages_.size()) {
  pending_->count(messages_.size(), bytes_);
  for (size_t i = 0; i < messages_.size(); ++i) {
    sent_[i].call = this;
    sent_[i].message = &messages_[i];
  }
  link_keys();
}

Publishing::~Publishing() {
  if (place_) pending_->leave(*place_);
  pending_->forget(messages_.size(), bytes_);
}

void Publishing::link_keys() {
  first_.reserve(sent_.size());
  if (sent_.size() == 1) {
    first_.push_back(sent_.data());
    return;
  }
  struct Hash {
    size_t operator()(const Message* message) const { return std::hash<std::string>{}(message->key); }
  };
  struct Same {
    bool operator()(const Message* a, const Message* b) const { return a->key == b->key && a->topic == b->topic; }
  };
  std::unordered_map<const Message*, Sent*, Hash, Same> last;
  last.reserve(sent_.size());
  for (Sent& sent : sent_) {
    const auto [at, is_first] = last.try_emplace(sent.message, &sent);
    if (is_first) {
      first_.push_back(&sent);
    } else {
      std::exchange(at->second, &sent)->next = &sent;
    }
  }
}

bool Publishing::start(const Send& send) {
  undecided_ = first_.size() + 1;
  self_ = shared_from_this();
  place_ = pending_->enter(*this);
  for (Sent* sent : first_) send_from(sent, send);
  return decided_one();
}

bool Publishing::send_from(Sent* sent, const Send& send) {
  if (waiting()) {
    const rd_kafka_resp_err_t error = send(*sent);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return false;
    fail(*sent, error);
  }
  return decided_one();
}

bool Publishing::report(Sent& sent, const rd_kafka_message_t& report, const Send& send) {
  if (report.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    decide(sent, Position{sent.message->topic, report.partition, report.offset});
    return sent.next == nullptr ? decided_one() : send_from(sent.next, send);
  }
  fail(sent, report.err);
  return decided_one();
}

void Publishing::fail(Sent& sent, rd_kafka_resp_err_t error) {
  if (is_one_of(refusals, error)) {
    decide(sent, Rejected{rd_kafka_err2str(error)});
  } else {
    rd_kafka_resp_err_t none = RD_KAFKA_RESP_ERR_NO_ERROR;
    failure_.compare_exchange_strong(none, error);
    sent.topic_in_doubt = is_one_of(doubts, error);
    decide(sent, Unknown{rd_kafka_err2str(error)});
  }
  for (Sent* held = sent.next; held != nullptr; held = held->next) decide(*held, HeldBack{});
}

bool Publishing::decided_one() {
  if (--undecided_ > 0) return false;
  // The code that resumes the caller has its own reference.
  const auto self = std::exchange(self_, nullptr);
  return end();
}

bool Publishing::expire() {
  if (!end()) return false;
  late_ = true;
  return true;
}

std::set<std::string> Publishing::topics_in_doubt() const {
  std::set<std::string> topics;
  if (left() || failure_ == RD_KAFKA_RESP_ERR_NO_ERROR) return topics;
  for (const Sent& sent : sent_) {
    if (sent.decided.load(std::memory_order_acquire) && sent.topic_in_doubt) topics.insert(sent.message->topic);
  }
  return topics;
}

std::vector<Published> Publishing::take(const std::set<std::string>& missing) {
  check(!waiting(), "a publish call has not ended");
  throw_if_left();
  std::vector<Published> outcomes;
  outcomes.reserve(sent_.size());
  for (Sent& sent : sent_) {
    const bool decided = sent.decided.load(std::memory_order_acquire);
    if (decided && sent.topic_in_doubt && missing.contains(sent.message->topic)) {
      outcomes.emplace_back(Rejected{rd_kafka_err2str(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)});
    } else if (decided) {
      outcomes.push_back(std::move(sent.outcome));
    } else {
      outcomes.emplace_back(Unknown{rd_kafka_err2str(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)});
    }
  }
  if (messaging::nothing_known(outcomes)) throw unavailable(late_ ? RD_KAFKA_RESP_ERR__MSG_TIMED_OUT : failure_.load());
  return outcomes;
}

}  // namespace sluice::kafka
