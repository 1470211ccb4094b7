// Questions to the brokers that block until they are answered. For threads that may wait (Instances::offload).
//
// Each throws EngineUnavailable where the brokers do not answer in time, or refuse.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "adapters/kafka/handles.h"
#include "messaging/log_view.h"

namespace sluice::kafka {

// The brokers as they are reached through an instance. Safe to use from any thread; cheap to make.
class Admin {
 public:
  Admin(Instance instance, Duration timeout) : instance_(std::move(instance)), timeout_(timeout) {}

  // Throws where no broker answers. Asks for as little as there is to ask.
  void reach() const;

  struct Cluster {
    int brokers = 0;
    // By name, without Kafka's own.
    std::map<std::string, int32_t> partitions = {};
    // Topics of which a partition has no leader just now.
    std::set<std::string> leaderless = {};
  };
  Cluster cluster() const;

  struct NewTopicPlan {
    messaging::Topic topic;
    int replicas = 1;
    size_t largest_batch = 1 << 20;
  };
  // Those that exist already are left alone.
  void create(const std::vector<NewTopicPlan>& topics) const;
  // Of each topic what was set for it, by name.
  using Settings = std::map<std::string, std::string>;
  std::map<std::string, Settings> settings(const std::set<std::string>& topics, bool with_defaults) const;
  // Replaces everything that was set for the topics.
  void set(const std::map<std::string, Settings>& settings) const;

  // By topic and partition.
  using Place = std::pair<std::string, int32_t>;
  // Of all partitions of the topics.
  std::map<std::string, std::vector<messaging::PartitionBounds>> bounds(
      const std::map<std::string, int32_t>& partitions) const;
  messaging::PartitionBounds bounds_of(const std::string& topic, int32_t partition) const;
  void delete_before(const std::string& topic, int32_t partition, int64_t offset) const;

  std::vector<std::string> groups() const;
  std::map<Place, int64_t> committed(const std::string& group) const;
  std::map<Place, std::string> members(const std::string& group) const;

 private:
  int timeout_ms() const;
  AdminOptions options(rd_kafka_admin_op_t operation) const;
  // The answer to a request that was sent with `queue`.
  Event answer(const Queue& queue) const;
  Queue new_queue() const { return Queue(rd_kafka_queue_new(instance_.get())); }
  std::map<Place, int64_t> offsets_at(const std::set<Place>& places, int64_t where) const;

  Instance instance_;
  Duration timeout_;
};

}  // namespace sluice::kafka
