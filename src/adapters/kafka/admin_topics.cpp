// Topics and their settings.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "adapters/kafka/admin.h"

namespace sluice::kafka {
namespace {

std::string milliseconds(Duration duration) {
  return fmt::format("{}", std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

NewTopic new_topic(const Admin::NewTopicPlan& plan, int replicas) {
  char problem[256];
  NewTopic topic(
      rd_kafka_NewTopic_new(plan.topic.name.c_str(), plan.topic.partitions, replicas, problem, sizeof problem));
  if (!topic) throw EngineUnavailable(engine_name, problem, EngineUnavailable::Retryable::no);
  rd_kafka_NewTopic_set_config(topic.get(), "retention.ms", milliseconds(plan.topic.retention).c_str());
  rd_kafka_NewTopic_set_config(topic.get(), "max.message.bytes", std::to_string(plan.largest_batch).c_str());
  rd_kafka_NewTopic_set_config(topic.get(), "min.insync.replicas", replicas > 2 ? "2" : "1");
  return topic;
}

template <class Owner>
auto raw(const std::vector<Owner>& owners) {
  std::vector<typename Owner::pointer> pointers;
  for (const Owner& owner : owners) pointers.push_back(owner.get());
  return pointers;
}

}  // namespace

std::vector<Admin::NewTopicPlan> Admin::create(const std::vector<NewTopicPlan>& topics, int replicas) const {
  std::vector<NewTopic> wanted;
  for (const NewTopicPlan& plan : topics) wanted.push_back(new_topic(plan, replicas));
  auto pointers = raw(wanted);
  const AdminOptions how = options(RD_KAFKA_ADMIN_OP_CREATETOPICS);
  const Queue queue = new_queue();
  rd_kafka_CreateTopics(instance_.get(), pointers.data(), pointers.size(), how.get(), queue.get());
  const Event event = answer(queue);
  size_t count = 0;
  const rd_kafka_topic_result_t** results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  std::set<std::string_view> refused;
  for (size_t i = 0; i < count; ++i) {
    const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(results[i]);
    if (error == RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR && replicas > 1) {
      refused.insert(rd_kafka_topic_result_name(results[i]));
    } else if (error != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
      throw_if(error);
    }
  }
  std::vector<NewTopicPlan> left;
  std::ranges::copy_if(topics, std::back_inserter(left),
                       [&](const NewTopicPlan& plan) { return refused.contains(plan.topic.name); });
  return left;
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
    if (is_left_out(rd_kafka_ConfigResource_error(results[i]), gaps)) continue;
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

}  // namespace sluice::kafka
