#include "messaging/away_partitions.h"

#include <algorithm>

#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice::messaging {
namespace {

constexpr Backoff probe_backoff{.first = 200ms, .factor = 2, .max = 15s};
// Most probes find the partition still away, and delay other rows. Every eighth waits longer, for slow partitions.
constexpr Duration least_patience = 1s;
constexpr unsigned patient_every = 8;
constexpr size_t most_waiting = 1'000'000;
constexpr Instant probing = Instant::max();  // when it is due again

const metrics::Gauge away_gauge{"outbox_partitions_away",
                                "Unavailable partitions of the log whose messages wait in an outbox."};

}  // namespace

Task<> AwayPartitions::add(OutboxMark row, std::string aggregate, std::string topic, std::string key) {
  if (!partitions_.contains(topic)) {
    const Deadline deadline = Deadline::after(clock_, patience_);
    const int32_t found = co_await with_deadline(clock_, deadline, "message log", log_.partitions(topic));
    if (found < 1) throw EngineUnavailable("message log", "it does not know the topic " + topic);
    partitions_[topic] = found;
  }
  waiting_.insert(std::hash<std::string>{}(aggregate));
  LogPartition partition{topic, partition_of(key, partitions_.at(topic))};
  const auto [at, is_new] = away_.try_emplace(partition, Away{row, later(0)});
  if (!is_new) co_return;
  away_gauge.with({}).add(1);
  log::warning("a partition of the log is unavailable; its messages wait",
               {{"topic", topic}, {"partition", partition.partition}});
}

bool AwayPartitions::passes_over(const OutboxRow& row) {
  if (away_.empty()) return false;
  const size_t aggregate = std::hash<std::string>{}(row.aggregate);
  if (waiting_.contains(aggregate)) return true;
  const auto count = partitions_.find(row.message.topic);
  if (count == partitions_.end()) return false;
  if (!away_.contains({row.message.topic, partition_of(row.message.key, count->second)})) return false;
  waiting_.insert(aggregate);
  return true;
}

bool AwayPartitions::full() const {
  return waiting_.size() >= most_waiting;
}

std::optional<AwayPartitions::Probe> AwayPartitions::due() {
  for (auto& [partition, away] : away_) {
    if (away.due > clock_.now()) continue;
    away.due = probing;
    const bool patient = away.tries % patient_every == patient_every - 1;
    return Probe{partition, away.row, patient ? patience_ : std::min(least_patience, patience_)};
  }
  return std::nullopt;
}

void AwayPartitions::silent(const LogPartition& partition) {
  Away& away = away_.at(partition);
  away.due = later(++away.tries);
}

void AwayPartitions::answered(const LogPartition& partition) {
  away_.erase(partition);
  if (away_.empty()) partitions_.clear();  // there may be more the next time
  away_gauge.with({}).add(-1);
  // It is unknown which of them waited for this partition; those that wait for another one are found again.
  waiting_.clear();
  // Perhaps they were away for the same reason.
  for (auto& [other, away] : away_) {
    if (away.due != probing) away.due = std::min(away.due, clock_.now() + probe_backoff.first);
  }
  ++era_;
  log::info("a partition of the log is available again",
            {{"topic", partition.topic}, {"partition", partition.partition}});
}

Instant AwayPartitions::next_due() const {
  Instant next = Instant::max();
  for (const auto& [partition, away] : away_) next = std::min(next, away.due);
  return next;
}

Instant AwayPartitions::later(unsigned tries) {
  return clock_.now() + probe_backoff.delay(tries, random_);
}

}  // namespace sluice::messaging
