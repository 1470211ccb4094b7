// One publish call in progress: its messages, the state of each, and its caller.
//
// Messages of different keys are sent at once. For one key the next is sent when the previous one was acknowledged:
// then none can be stored behind one that was not. The messages stay here until librdkafka has reported on each sent
// one, since it sends them from here; the caller may have left long before.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "adapters/kafka/handles.h"
#include "adapters/kafka/pending.h"
#include "messaging/message_log.h"
#include "runtime/pending_call.h"

namespace sluice::kafka {

class Publishing : public PendingCall, public std::enable_shared_from_this<Publishing> {
 public:
  // A message and its fate; librdkafka reports by its address.
  struct Sent {
    Publishing* call = nullptr;
    const messaging::Message* message = nullptr;
    Sent* next = nullptr;  // of the same key
    messaging::Published outcome{};
    bool topic_in_doubt = false;        // librdkafka does not know the topic, or the partition
    std::atomic<bool> decided = false;  // and all of this stays
  };
  // Hands a message to librdkafka; outcomes other than an error are reported later.
  using Send = std::function<rd_kafka_resp_err_t(Sent&)>;

  Publishing(std::vector<messaging::Message> messages, std::shared_ptr<Pending> pending, Instant deadline);
  ~Publishing();
  Publishing(const Publishing&) = delete;
  Publishing& operator=(const Publishing&) = delete;

  Instant deadline() const { return deadline_; }

  // For the caller: sends the messages that may be sent. True if everything is decided already.
  bool start(const Send& send);
  // Topics that librdkafka did not know. Its metadata may be stale, as it is while brokers restart: only the brokers
  // can tell whether a topic exists.
  std::set<std::string> topics_in_doubt() const;
  // The outcomes; messages to topics among `missing` are rejected. Throws EngineUnavailable if none is known, and
  // operation_aborted if the caller has left.
  std::vector<messaging::Published> take(const std::set<std::string>& missing = {});

  // For the producer: a report. True when that was the last and the caller is to be resumed.
  bool report(Sent& sent, const rd_kafka_message_t& report, const Send& send);
  // Its time is up. True when the caller is to be resumed.
  bool expire();

 private:
  void link_keys();
  // Continues with `sent` or, if that fails at once, with the following messages. True if nothing more will be
  // reported.
  bool send_from(Sent* sent, const Send& send);
  // Ends a key: its following messages are held back.
  void fail(Sent& sent, rd_kafka_resp_err_t error);
  bool decided_one();

  const std::vector<messaging::Message> messages_;
  const std::shared_ptr<Pending> pending_;
  const Instant deadline_;
  const size_t bytes_;
  std::optional<Pending::Place> place_;
  std::vector<Sent> sent_;
  std::vector<Sent*> first_;  // of their key

  std::atomic<size_t> undecided_ = 0;  // keys that have something on its way, and one for `start`
  std::atomic<rd_kafka_resp_err_t> failure_ = RD_KAFKA_RESP_ERR_NO_ERROR;
  bool late_ = false;                 // it ended because its time was up
  std::shared_ptr<Publishing> self_;  // while librdkafka has messages
};

}  // namespace sluice::kafka
