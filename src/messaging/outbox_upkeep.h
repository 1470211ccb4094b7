// Measures the lag of an outbox and removes old published rows.
#pragma once

#include "messaging/outbox_store.h"
#include "runtime/clock.h"
#include "runtime/config_fwd.h"
#include "runtime/retry.h"
#include "runtime/task_scope.h"

namespace sluice::messaging {

struct OutboxUpkeepConfig {
  std::string outbox = "main";  // its name in metrics, where a process relays several
  Duration keep = 24h;
  int64_t alarm = 100;

  static void describe(config::Section<OutboxUpkeepConfig>& section);
};

// Belongs to one executor.
class OutboxUpkeep {
 public:
  OutboxUpkeep(OutboxStore& store, Clock& clock, Random& random, OutboxUpkeepConfig config)
      : store_(store), clock_(clock), random_(random), config_(std::move(config)) {}

  // `held` returns the relay's buckets and positions. Each relay measures its own buckets; the holder of the first one
  // removes rows.
  void start(TaskScope& scope, std::function<std::vector<BucketScan>()> held);

 private:
  Task<> measure_round();
  void show(const OutboxLag& lag, size_t buckets);
  Task<> sweep_round();
  bool sweeps() const;

  OutboxStore& store_;
  Clock& clock_;
  Random& random_;
  const OutboxUpkeepConfig config_;
  std::function<std::vector<BucketScan>()> held_;
  Instant quiet_until_{};  // the alarm
};

}  // namespace sluice::messaging
