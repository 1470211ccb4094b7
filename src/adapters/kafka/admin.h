// Questions to the brokers that block until they are answered. For threads that may wait (Instances::offload).
//
// Each throws EngineUnavailable if the brokers do not answer in time, or refuse. A cluster has topics and groups of
// other programs: one that cannot be read must not hide all others (Gaps).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "adapters/kafka/handles.h"
#include "messaging/log_view.h"

namespace sluice::kafka {

// The brokers as they are reached through an instance. Safe to use from any thread; cheap to make.
class Admin {
 public:
  // Treatment of a topic, partition or group that the brokers do not describe: the call fails, or it is left out.
  enum class Gaps { refused, allowed };

  Admin(Instance instance, Duration timeout) : instance_(std::move(instance)), timeout_(timeout) {}

  // By topic and partition.
  using Place = std::pair<std::string, int32_t>;

  // Why no broker answers; nothing where one does. Asks for as little as there is to ask.
  std::optional<std::string> why_unreachable() const;

  // Whether the brokers say that there is no such topic.
  bool is_missing(const std::string& topic) const;

  struct Cluster {
    // By name, without Kafka's own and those that may not be looked at.
    std::map<std::string, int32_t> partitions = {};
    // Partitions that have no leader just now.
    std::set<Place> leaderless = {};

    std::set<Place> places() const;
  };
  Cluster cluster() const;

  struct NewTopicPlan {
    messaging::Topic topic;
    size_t largest_batch = 1 << 20;
  };
  // Those that exist already are left alone. Returns those for which there are fewer brokers than replicas; not where
  // one is asked for.
  std::vector<NewTopicPlan> create(const std::vector<NewTopicPlan>& topics, int replicas) const;
  // The explicit settings of each topic, by name.
  using Settings = std::map<std::string, std::string>;
  std::map<std::string, Settings> settings(const std::set<std::string>& topics, bool with_defaults, Gaps gaps) const;
  // Replaces everything that was set for the topics.
  void set(const std::map<std::string, Settings>& settings) const;

  using Bounds = std::map<std::string, std::vector<messaging::PartitionBounds>>;
  // By topic. A partition without a leader takes all the time there is.
  Bounds bounds(const std::set<Place>& places, Gaps gaps) const;
  messaging::PartitionBounds bounds_of(const std::string& topic, int32_t partition) const;
  void delete_before(const std::string& topic, int32_t partition, int64_t offset) const;

  std::vector<std::string> groups() const;
  struct Committed {
    // Without groups that cannot be read.
    std::map<std::string, std::map<Place, int64_t>> groups = {};
    // Whether each of them was answered for.
    bool in_time = true;
  };
  // Asks for all of them at once.
  Committed committed(std::span<const std::string> groups) const;
  // The readers of partitions, by group.
  std::map<std::string, std::map<Place, std::string>> members(std::span<const std::string> groups) const;

 private:
  int timeout_ms() const;
  AdminOptions options(rd_kafka_admin_op_t operation) const;
  // The answer to a request that was sent with `queue`.
  Event answer(const Queue& queue) const;
  // Whether to continue without the object of `error`.
  static bool is_left_out(rd_kafka_resp_err_t error, Gaps gaps);
  Queue new_queue() const { return Queue(rd_kafka_queue_new(instance_.get())); }
  std::map<Place, int64_t> offsets_at(const std::set<Place>& places, int64_t where, Gaps gaps) const;
  Queue ask_committed(const std::string& group) const;

  Instance instance_;
  Duration timeout_;
};

}  // namespace sluice::kafka
