// Progress and members of groups.
#include <optional>

#include "adapters/kafka/admin.h"

namespace sluice::kafka {
namespace {

// Nothing if the group cannot be read.
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
