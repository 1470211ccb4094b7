#include "adapters/kafka/topics.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "runtime/log.h"

namespace sluice::kafka {
namespace {

using messaging::GroupView;
using messaging::PartitionBounds;
using messaging::Topic;
using messaging::TopicView;

constexpr const char* retention_key = "retention.ms";
constexpr const char* size_key = "max.message.bytes";
constexpr size_t groups_at_once = 16;
constexpr int most_replicas = 3;

std::string retention_of(const Topic& topic) {
  return fmt::format("{}", std::chrono::ceil<std::chrono::milliseconds>(topic.retention).count());
}

void create_missing(const Admin& admin, const std::vector<Topic>& topics, const Admin::Cluster& cluster,
                    size_t largest_batch) {
  std::vector<Admin::NewTopicPlan> missing;
  for (const Topic& topic : topics) {
    const auto existing = cluster.partitions.find(topic.name);
    if (existing == cluster.partitions.end()) {
      missing.push_back({topic, largest_batch});
    } else if (existing->second != topic.partitions) {
      log::warning("the number of partitions of a topic cannot change; the old one is kept",
                   {{"topic", topic.name}, {"has", existing->second}, {"declared", topic.partitions}});
    }
  }
  // The controller knows how many brokers there are; the one we have asked may not have heard of all.
  for (int replicas = most_replicas; !missing.empty(); --replicas) missing = admin.create(missing, replicas);
}

// A request replaces all settings of a topic, so those of the operator are sent along.
void adjust_settings(const Admin& admin, const std::vector<Topic>& topics, const Admin::Cluster& cluster,
                     size_t largest_batch) {
  std::set<std::string> existing;
  for (const Topic& topic : topics) {
    if (cluster.partitions.contains(topic.name)) existing.insert(topic.name);
  }
  auto settings = admin.settings(existing, false, Admin::Gaps::refused);
  for (const Topic& topic : topics) {
    const auto its = settings.find(topic.name);
    if (its == settings.end()) continue;
    const Admin::Settings before = its->second;
    its->second[retention_key] = retention_of(topic);
    its->second[size_key] = fmt::format("{}", largest_batch);
    if (its->second == before) settings.erase(its);
  }
  if (!settings.empty()) admin.set(settings);
}

Duration read_retention(const std::map<std::string, Admin::Settings>& settings, const std::string& topic) {
  const auto its = settings.find(topic);
  if (its == settings.end()) return {};
  const auto value = its->second.find(retention_key);
  if (value == its->second.end()) return {};
  int64_t milliseconds = 0;
  std::from_chars(value->second.data(), value->second.data() + value->second.size(), milliseconds);
  return milliseconds < 0 ? Duration::max() : std::chrono::milliseconds(milliseconds);
}

std::set<std::string> names(const std::map<std::string, int32_t>& partitions) {
  std::set<std::string> names;
  for (const auto& [topic, count] : partitions) names.insert(topic);
  return names;
}

// A partition without a leader would keep the question about all others waiting.
Admin::Bounds bounds_there_are(const Admin& admin, const Admin::Cluster& cluster) {
  std::set<Admin::Place> places = cluster.places();
  for (const Admin::Place& place : cluster.leaderless) places.erase(place);
  return admin.bounds(places, Admin::Gaps::allowed);
}

void add_views(const std::string& group, const std::map<Admin::Place, int64_t>& committed,
               const std::map<Admin::Place, std::string>& members, const Admin::Bounds& bounds,
               std::vector<GroupView>& views) {
  std::set<std::string> topics;
  for (const auto& [place, offset] : committed) topics.insert(place.first);
  for (const auto& [place, member] : members) topics.insert(place.first);
  for (const std::string& topic : topics) {
    const auto its_bounds = bounds.find(topic);
    if (its_bounds == bounds.end()) continue;
    for (const PartitionBounds& bound : its_bounds->second) {
      GroupView view{.group = group, .topic = topic, .partition = bound.partition};
      const auto offset = committed.find({topic, bound.partition});
      if (offset != committed.end()) view.committed = offset->second;
      const auto member = members.find({topic, bound.partition});
      if (member != members.end()) view.member = member->second;
      view.lag = std::max<int64_t>(0, bound.end - std::max(bound.first, view.committed.value_or(bound.first)));
      views.push_back(std::move(view));
    }
  }
}

}  // namespace

void declare_topics(const Admin& admin, const std::vector<Topic>& topics, size_t largest_batch) {
  const Admin::Cluster cluster = admin.cluster();
  create_missing(admin, topics, cluster, largest_batch);
  adjust_settings(admin, topics, cluster, largest_batch);
}

bool are_served(const Admin& admin, const std::vector<Topic>& topics) {
  const Admin::Cluster cluster = admin.cluster();
  std::set<Admin::Place> places;
  for (const Topic& topic : topics) {
    const auto found = cluster.partitions.find(topic.name);
    if (found == cluster.partitions.end()) return false;
    for (int32_t p = 0; p < found->second; ++p) {
      if (cluster.leaderless.contains({topic.name, p})) return false;
      places.insert({topic.name, p});
    }
  }
  try {
    // A leader is named before it knows that it is one.
    admin.bounds(places, Admin::Gaps::refused);
    return true;
  } catch (const EngineUnavailable&) {
    return false;
  }
}

std::vector<TopicView> view_topics(const Admin& admin) {
  const Admin::Cluster cluster = admin.cluster();
  const auto settings = admin.settings(names(cluster.partitions), true, Admin::Gaps::allowed);
  Admin::Bounds bounds = bounds_there_are(admin, cluster);
  std::vector<TopicView> topics;
  for (const auto& [name, count] : cluster.partitions) {
    topics.push_back({{name, count, read_retention(settings, name)}, std::move(bounds[name])});
  }
  return topics;
}

std::vector<GroupView> view_groups(const Admin& admin) {
  const Admin::Cluster cluster = admin.cluster();
  const Admin::Bounds bounds = bounds_there_are(admin, cluster);
  std::vector<std::string> groups = admin.groups();
  std::ranges::sort(groups);
  std::vector<GroupView> views;
  // A few groups may have no coordinator; with many of them, waiting for each would take too long.
  bool late = false;
  for (size_t first = 0; first < groups.size(); first += groups_at_once) {
    const auto some = std::span(groups).subspan(first, std::min(groups_at_once, groups.size() - first));
    const Admin::Committed committed = admin.committed(some);
    if (!committed.in_time && std::exchange(late, true)) throw unavailable(RD_KAFKA_RESP_ERR__TIMED_OUT);
    auto members = admin.members(some);
    for (const auto& [group, offsets] : committed.groups) add_views(group, offsets, members[group], bounds, views);
  }
  return views;
}

}  // namespace sluice::kafka
