#include "adapters/kafka/admin.h"

#include <optional>

#include <fmt/format.h>

namespace sluice::kafka {
namespace {

using Metadata = std::unique_ptr<const rd_kafka_metadata_t, Destroy<rd_kafka_metadata_destroy>>;

std::string milliseconds(Duration duration) {
  return fmt::format("{}", std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

bool is_kafkas_own(std::string_view topic) {
  return topic.starts_with("__");
}

// Whether to go on without it.
bool is_gap(rd_kafka_resp_err_t error, Admin::Gaps gaps) {
  if (gaps == Admin::Gaps::refused) throw_if(error);
  return error != RD_KAFKA_RESP_ERR_NO_ERROR;
}

template <class Owner>
auto raw(const std::vector<Owner>& owners) {
  std::vector<typename Owner::pointer> pointers;
  for (const Owner& owner : owners) pointers.push_back(owner.get());
  return pointers;
}

// Nothing where the group can't be looked at.
std::optional<std::map<Admin::Place, int64_t>> committed_in(rd_kafka_event_t* event) {
  size_t count = 0;
  const rd_kafka_group_result_t** results =
      rd_kafka_ListConsumerGroupOffsets_result_groups(rd_kafka_event_ListConsumerGroupOffsets_result(event), &count);
  std::map<Admin::Place, int64_t> offsets;
  for (size_t i = 0; i < count; ++i) {
    if (rd_kafka_group_result_error(results[i]) != nullptr) return std::nullopt;
    const rd_kafka_topic_partition_list_t* list = rd_kafka_group_result_partitions(results[i]);
    for (int p = 0; list != nullptr && p < list->cnt; ++p) {
      if (list->elems[p].offset >= 0) offsets[{list->elems[p].topic, list->elems[p].partition}] = list->elems[p].offset;
    }
  }
  return offsets;
}

std::map<Admin::Place, std::string> members_of(const rd_kafka_ConsumerGroupDescription_t* group) {
  std::map<Admin::Place, std::string> members;
  for (size_t m = 0; m < rd_kafka_ConsumerGroupDescription_member_count(group); ++m) {
    const rd_kafka_MemberDescription_t* member = rd_kafka_ConsumerGroupDescription_member(group, m);
    const rd_kafka_topic_partition_list_t* list =
        rd_kafka_MemberAssignment_partitions(rd_kafka_MemberDescription_assignment(member));
    for (int p = 0; list != nullptr && p < list->cnt; ++p) {
      members[{list->elems[p].topic, list->elems[p].partition}] = rd_kafka_MemberDescription_consumer_id(member);
    }
  }
  return members;
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

void Admin::reach() const {
  const rd_kafka_metadata_t* given = nullptr;
  throw_if(rd_kafka_metadata(instance_.get(), 0, nullptr, &given, timeout_ms()));
  const Metadata metadata(given);
}

Admin::Cluster Admin::cluster() const {
  const rd_kafka_metadata_t* given = nullptr;
  throw_if(rd_kafka_metadata(instance_.get(), 1, nullptr, &given, timeout_ms()));
  const Metadata metadata(given);
  Cluster cluster{.brokers = metadata->broker_cnt};
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

void Admin::create(const std::vector<NewTopicPlan>& topics) const {
  std::vector<NewTopic> wanted;
  for (const NewTopicPlan& plan : topics) {
    char problem[256];
    NewTopic topic(
        rd_kafka_NewTopic_new(plan.topic.name.c_str(), plan.topic.partitions, plan.replicas, problem, sizeof problem));
    if (!topic) throw EngineUnavailable(engine_name, problem, EngineUnavailable::Retryable::no);
    rd_kafka_NewTopic_set_config(topic.get(), "retention.ms", milliseconds(plan.topic.retention).c_str());
    rd_kafka_NewTopic_set_config(topic.get(), "max.message.bytes", std::to_string(plan.largest_batch).c_str());
    rd_kafka_NewTopic_set_config(topic.get(), "min.insync.replicas", plan.replicas > 2 ? "2" : "1");
    wanted.push_back(std::move(topic));
  }
  auto pointers = raw(wanted);
  const AdminOptions how = options(RD_KAFKA_ADMIN_OP_CREATETOPICS);
  const Queue queue = new_queue();
  rd_kafka_CreateTopics(instance_.get(), pointers.data(), pointers.size(), how.get(), queue.get());
  const Event event = answer(queue);
  size_t count = 0;
  const rd_kafka_topic_result_t** results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  for (size_t i = 0; i < count; ++i) {
    const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(results[i]);
    if (error != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) throw_if(error);
  }
}

std::map<std::string, Admin::Settings> Admin::settings(const std::set<std::string>& topics, bool with_defaults,
                                                       Gaps gaps) const {
  std::map<std::string, Settings> settings;
  if (topics.empty()) return settings;
  std::vector<ConfigResource> resources;
  for (const std::string& topic : topics) {
    resources.emplace_back(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
  }
  auto pointers = raw(resources);
  const AdminOptions how = options(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
  const Queue queue = new_queue();
  rd_kafka_DescribeConfigs(instance_.get(), pointers.data(), pointers.size(), how.get(), queue.get());
  const Event event = answer(queue);
  size_t count = 0;
  const rd_kafka_ConfigResource_t** results =
      rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event.get()), &count);
  for (size_t i = 0; i < count; ++i) {
    if (is_gap(rd_kafka_ConfigResource_error(results[i]), gaps)) continue;
    Settings& its = settings[rd_kafka_ConfigResource_name(results[i])];
    size_t entries = 0;
    const rd_kafka_ConfigEntry_t** entry = rd_kafka_ConfigResource_configs(results[i], &entries);
    for (size_t e = 0; e < entries; ++e) {
      const bool own = rd_kafka_ConfigEntry_source(entry[e]) == RD_KAFKA_CONFIG_SOURCE_DYNAMIC_TOPIC_CONFIG;
      const char* value = rd_kafka_ConfigEntry_value(entry[e]);
      if ((own || with_defaults) && value != nullptr) its[rd_kafka_ConfigEntry_name(entry[e])] = value;
    }
  }
  return settings;
}

void Admin::set(const std::map<std::string, Settings>& settings) const {
  std::vector<ConfigResource> resources;
  for (const auto& [topic, its] : settings) {
    resources.emplace_back(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
    for (const auto& [name, value] : its) {
      throw_if(rd_kafka_ConfigResource_set_config(resources.back().get(), name.c_str(), value.c_str()));
    }
  }
  auto pointers = raw(resources);
  const AdminOptions how = options(RD_KAFKA_ADMIN_OP_ALTERCONFIGS);
  const Queue queue = new_queue();
  rd_kafka_AlterConfigs(instance_.get(), pointers.data(), pointers.size(), how.get(), queue.get());
  const Event event = answer(queue);
  size_t count = 0;
  const rd_kafka_ConfigResource_t** results =
      rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event.get()), &count);
  for (size_t i = 0; i < count; ++i) throw_if(rd_kafka_ConfigResource_error(results[i]));
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
    if (is_gap(found.err, gaps)) continue;
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

std::vector<std::string> Admin::groups() const {
  const AdminOptions how = options(RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPS);
  const Queue queue = new_queue();
  rd_kafka_ListConsumerGroups(instance_.get(), how.get(), queue.get());
  const Event event = answer(queue);
  size_t count = 0;
  const rd_kafka_ConsumerGroupListing_t** listed =
      rd_kafka_ListConsumerGroups_result_valid(rd_kafka_event_ListConsumerGroups_result(event.get()), &count);
  std::vector<std::string> groups;
  for (size_t i = 0; i < count; ++i) groups.emplace_back(rd_kafka_ConsumerGroupListing_group_id(listed[i]));
  return groups;
}

Queue Admin::ask_committed(const std::string& group) const {
  rd_kafka_ListConsumerGroupOffsets_t* request = rd_kafka_ListConsumerGroupOffsets_new(group.c_str(), nullptr);
  const AdminOptions how = options(RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS);
  Queue queue = new_queue();
  rd_kafka_ListConsumerGroupOffsets(instance_.get(), &request, 1, how.get(), queue.get());
  rd_kafka_ListConsumerGroupOffsets_destroy(request);
  return queue;
}

Admin::Committed Admin::committed(std::span<const std::string> groups) const {
  std::vector<Queue> asked;
  for (const std::string& group : groups) asked.push_back(ask_committed(group));
  Committed committed;
  for (size_t g = 0; g < groups.size(); ++g) {
    const Event event(rd_kafka_queue_poll(asked[g].get(), timeout_ms() + 1000));
    const rd_kafka_resp_err_t error = event ? rd_kafka_event_error(event.get()) : RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (error == RD_KAFKA_RESP_ERR__TIMED_OUT || error == RD_KAFKA_RESP_ERR__TRANSPORT) committed.in_time = false;
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    if (auto offsets = committed_in(event.get())) committed.groups[groups[g]] = std::move(*offsets);
  }
  return committed;
}

std::map<std::string, std::map<Admin::Place, std::string>> Admin::members(std::span<const std::string> groups) const {
  std::vector<const char*> names;
  for (const std::string& group : groups) names.push_back(group.c_str());
  const AdminOptions how = options(RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS);
  const Queue queue = new_queue();
  rd_kafka_DescribeConsumerGroups(instance_.get(), names.data(), names.size(), how.get(), queue.get());
  const Event event = answer(queue);
  size_t count = 0;
  const rd_kafka_ConsumerGroupDescription_t** described =
      rd_kafka_DescribeConsumerGroups_result_groups(rd_kafka_event_DescribeConsumerGroups_result(event.get()), &count);
  std::map<std::string, std::map<Place, std::string>> members;
  for (size_t g = 0; g < count; ++g) {
    if (rd_kafka_ConsumerGroupDescription_error(described[g]) != nullptr) continue;
    members[rd_kafka_ConsumerGroupDescription_group_id(described[g])] = members_of(described[g]);
  }
  return members;
}

}  // namespace sluice::kafka
