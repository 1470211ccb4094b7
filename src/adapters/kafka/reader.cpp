#include "adapters/kafka/reader.h"

#include <chrono>

#include "adapters/kafka/delivery.h"

namespace sluice::kafka {
namespace {

// The partition is fetched while this lives.
class Fetching {
 public:
  Fetching(rd_kafka_t* instance, const std::string& topic, int32_t partition, int64_t from)
      : topic_(rd_kafka_topic_new(instance, topic.c_str(), nullptr)), partition_(partition) {
    if (rd_kafka_consume_start(topic_.get(), partition, from) != 0) throw unavailable(rd_kafka_last_error());
  }
  ~Fetching() { rd_kafka_consume_stop(topic_.get(), partition_); }
  Fetching(const Fetching&) = delete;
  Fetching& operator=(const Fetching&) = delete;

  rd_kafka_message_t* next(int timeout_ms) { return rd_kafka_consume(topic_.get(), partition_, timeout_ms); }

 private:
  TopicHandle topic_;
  int32_t partition_;
};

}  // namespace

std::vector<messaging::Delivery> Reader::read(const std::string& topic, int32_t partition, int64_t from, size_t most) {
  const std::lock_guard lock(mutex_);
  if (!instance_) instance_ = instances_.reader();
  const auto batch = std::make_shared<FetchedMessages>(instance_);
  const auto assignment = std::make_shared<const messaging::Assignment>(messaging::Assignment{topic, partition});
  const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(instances_.config().request_timeout);
  std::vector<messaging::Delivery> deliveries;
  Fetching fetching(instance_.get(), topic, partition, from);
  for (size_t bytes = 0; deliveries.size() < most && bytes < messaging::bytes_at_once;) {
    rd_kafka_message_t* message = fetching.next(static_cast<int>(timeout.count()));
    if (message == nullptr) throw unavailable(RD_KAFKA_RESP_ERR__TIMED_OUT);
    batch->messages.push_back(message);
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) break;
    throw_if(message->err);
    deliveries.push_back(delivery_of(*message, assignment, batch));
    bytes += bytes_of(deliveries.back());
  }
  return deliveries;
}

}  // namespace sluice::kafka
