// The partitions a consumer owns: which may be fetched from, what progress is to be committed, which are to leave.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "messaging/consumer_config.h"
#include "messaging/held_partition.h"

namespace sluice::messaging {

using HeldRef = std::shared_ptr<HeldPartition>;

// Belongs to one executor.
class HeldPartitions {
 public:
  explicit HeldPartitions(const ConsumerConfig& config) : config_(config) {}

  // Held from the first call on.
  const HeldRef& of(const AssignmentRef& assignment);

  // How many messages may be fetched so that no partition gets more than it may have.
  size_t room() const;
  // Pauses those that have enough in work.
  void pause_full(Subscription& subscription);
  void pause_all(Subscription& subscription);
  // Goes on with one that was full.
  void resume_if_empty(HeldPartition& held, Subscription& subscription) const;

  void ask_back(const AssignmentRef& assignment, Instant now);
  void lose(const AssignmentRef& assignment);

  // Progress since the last commit.
  std::vector<Progress> progress() const;
  void committed(const std::vector<Progress>& progress);
  // Revoked partitions that have finished, or whose time is up. They end with this call.
  std::vector<HeldRef> end_leaving(Instant now);
  bool any_leaving(Instant now) const;
  void forget(const HeldPartition& held) { held_.erase(held.assignment.get()); }

 private:
  // Far enough below the limit that a batch still fits.
  bool full(const HeldPartition& held) const {
    return held.prefix.unfinished() > config_.in_work * 3 / 4 || held.prefix.span() > config_.window * 3 / 4 ||
           held.bytes > config_.in_work_bytes * 3 / 4;
  }
  bool empty(const HeldPartition& held) const {
    return held.prefix.unfinished() <= config_.in_work / 4 && held.prefix.span() <= config_.window * 3 / 4 &&
           held.bytes <= config_.in_work_bytes / 4;
  }

  const ConsumerConfig& config_;
  std::unordered_map<const Assignment*, HeldRef> held_;
};

}  // namespace sluice::messaging
