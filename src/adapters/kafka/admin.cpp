#include "adapters/kafka/admin.h"

namespace sluice::kafka {
namespace {

using Metadata = std::unique_ptr<const rd_kafka_metadata_t, Destroy<rd_kafka_metadata_destroy>>;

bool is_kafkas_own(std::string_view topic) {
  return topic.starts_with("__");
}

}  // namespace

int Admin::timeout_ms() const {
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(timeout_).count());
}

AdminOptions Admin::options(rd_kafka_admin_op_t operation) const {
  AdminOptions options(rd_kafka_AdminOptions_new(instance_.get(), operation));
  char problem[256];
  throw_if(rd_kafka_AdminOptions_set_request_timeout(options.get(), timeout_ms(), problem, sizeof problem));
  return options;
}

Event Admin::answer(const Queue& queue) const {
  // librdkafka ends the request by itself in that time.
  Event event(rd_kafka_queue_poll(queue.get(), timeout_ms() + 1000));
  if (!event) throw unavailable(RD_KAFKA_RESP_ERR__TIMED_OUT);
  if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw EngineUnavailable(engine_name, rd_kafka_event_error_string(event.get()));
  }
  return event;
}

bool Admin::is_left_out(rd_kafka_resp_err_t error, Gaps gaps) {
  if (gaps == Gaps::refused) throw_if(error);
  return error != RD_KAFKA_RESP_ERR_NO_ERROR;
}

std::optional<std::string> Admin::why_unreachable() const {
  const rd_kafka_metadata_t* given = nullptr;
  const rd_kafka_resp_err_t error = rd_kafka_metadata(instance_.get(), 0, nullptr, &given, timeout_ms());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return rd_kafka_err2str(error);
  const Metadata metadata(given);
  return std::nullopt;
}

bool Admin::is_missing(const std::string& topic) const {
  const TopicHandle handle(rd_kafka_topic_new(instance_.get(), topic.c_str(), nullptr));
  const rd_kafka_metadata_t* given = nullptr;
  throw_if(rd_kafka_metadata(instance_.get(), 0, handle.get(), &given, timeout_ms()));
  const Metadata metadata(given);
  return metadata->topic_cnt == 1 && metadata->topics[0].err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

Admin::Cluster Admin::cluster() const {
  const rd_kafka_metadata_t* given = nullptr;
  throw_if(rd_kafka_metadata(instance_.get(), 1, nullptr, &given, timeout_ms()));
  const Metadata metadata(given);
  Cluster cluster;
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    const rd_kafka_metadata_topic_t& topic = metadata->topics[i];
    if (is_kafkas_own(topic.topic) || topic.err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    cluster.partitions[topic.topic] = topic.partition_cnt;
    for (int p = 0; p < topic.partition_cnt; ++p) {
      if (topic.partitions[p].leader < 0) cluster.leaderless.insert({topic.topic, topic.partitions[p].id});
    }
  }
  return cluster;
}

std::set<Admin::Place> Admin::Cluster::places() const {
  std::set<Place> places;
  for (const auto& [topic, count] : partitions) {
    for (int32_t p = 0; p < count; ++p) places.insert({topic, p});
  }
  return places;
}

std::map<Admin::Place, int64_t> Admin::offsets_at(const std::set<Place>& places, int64_t where, Gaps gaps) const {
  std::map<Place, int64_t> offsets;
  if (places.empty()) return offsets;
  const Partitions list = new_partitions();
  for (const auto& [topic, partition] : places) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = where;
  }
  throw_if(rd_kafka_offsets_for_times(instance_.get(), list.get(), timeout_ms()));
  for (int i = 0; i < list->cnt; ++i) {
    const rd_kafka_topic_partition_t& found = list->elems[i];
    if (is_left_out(found.err, gaps)) continue;
    offsets[{found.topic, found.partition}] = found.offset;
  }
  return offsets;
}

Admin::Bounds Admin::bounds(const std::set<Place>& places, Gaps gaps) const {
  // ListOffsets takes these in the place of a time.
  const auto firsts = offsets_at(places, RD_KAFKA_OFFSET_BEGINNING, gaps);
  const auto ends = offsets_at(places, RD_KAFKA_OFFSET_END, gaps);
  Bounds bounds;
  for (const auto& [place, first] : firsts) {
    const auto end = ends.find(place);
    if (end == ends.end()) continue;
    bounds[place.first].push_back({.partition = place.second, .first = first, .end = end->second});
  }
  return bounds;
}

messaging::PartitionBounds Admin::bounds_of(const std::string& topic, int32_t partition) const {
  return bounds({{topic, partition}}, Gaps::refused).at(topic).at(0);
}

void Admin::delete_before(const std::string& topic, int32_t partition, int64_t offset) const {
  const Partitions before = new_partitions(1);
  rd_kafka_topic_partition_list_add(before.get(), topic.c_str(), partition)->offset = offset;
  rd_kafka_DeleteRecords_t* request = rd_kafka_DeleteRecords_new(before.get());
  const AdminOptions how = options(RD_KAFKA_ADMIN_OP_DELETERECORDS);
  const Queue queue = new_queue();
  rd_kafka_DeleteRecords(instance_.get(), &request, 1, how.get(), queue.get());
  rd_kafka_DeleteRecords_destroy(request);
  const Event event = answer(queue);
  const rd_kafka_topic_partition_list_t* results =
      rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event.get()));
  for (int i = 0; i < results->cnt; ++i) throw_if(results->elems[i].err);
}

}  // namespace sluice::kafka
