// librdkafka's objects with owners. Only for this room's sources: it brings librdkafka's header.
#pragma once

#include <memory>
#include <string>

#include <librdkafka/rdkafka.h>

#include "runtime/errors.h"

namespace sluice::kafka {

// Its name in metrics, logs and errors.
inline constexpr const char* engine_name = "kafka";

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* object) const {
    destroy(object);
  }
};

using Conf = std::unique_ptr<rd_kafka_conf_t, Destroy<rd_kafka_conf_destroy>>;
using Event = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_destroy>>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_destroy>>;
using TopicHandle = std::unique_ptr<rd_kafka_topic_t, Destroy<rd_kafka_topic_destroy>>;
using Partitions = std::unique_ptr<rd_kafka_topic_partition_list_t, Destroy<rd_kafka_topic_partition_list_destroy>>;
using Error = std::unique_ptr<rd_kafka_error_t, Destroy<rd_kafka_error_destroy>>;
using AdminOptions = std::unique_ptr<rd_kafka_AdminOptions_t, Destroy<rd_kafka_AdminOptions_destroy>>;
using NewTopic = std::unique_ptr<rd_kafka_NewTopic_t, Destroy<rd_kafka_NewTopic_destroy>>;
using ConfigResource = std::unique_ptr<rd_kafka_ConfigResource_t, Destroy<rd_kafka_ConfigResource_destroy>>;

// Shared by its users: messages refer into the instance that fetched them.
using Instance = std::shared_ptr<rd_kafka_t>;

inline Partitions new_partitions(int room = 8) {
  return Partitions(rd_kafka_topic_partition_list_new(room));
}

inline EngineUnavailable unavailable(rd_kafka_resp_err_t error) {
  return {engine_name, rd_kafka_err2str(error)};
}

inline void throw_if(rd_kafka_resp_err_t error) {
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw unavailable(error);
}

inline void throw_if(rd_kafka_error_t* given) {
  const Error error(given);
  if (error) throw EngineUnavailable(engine_name, rd_kafka_error_string(error.get()));
}

}  // namespace sluice::kafka
