// Publishes the outbox of one database, in order per aggregate, together with any number of other relays.
//
// A relay holds its share of the buckets by lease. It reads unpublished rows, publishes them, and marks the
// acknowledged ones, a few batches at once, no two with the same bucket. It waits for an unavailable log without limit;
// that is no fault of the rows. If a part of the log is unavailable, only the rows that belong there wait
// (away_partitions.h). A row that the log refuses is tried three times, while its aggregate waits, and is then moved to
// the dead rows, where it keeps its aggregate waiting for an operator. After any failure rows are published again: at
// least once, and the first time in order.
//
// Two relays that believe in the same bucket publish the same rows in the same order; only the later one can mark them.
#pragma once

#include "messaging/bell.h"
#include "messaging/outbox_sender.h"
#include "runtime/task_scope.h"

namespace sluice::messaging {

struct OutboxRelayParts {
  OutboxStore& store;
  MessageLog& log;
  Bell& bell;
  Clock& clock;
  Random& random;
};

// Belongs to one executor; the given objects outlive it. Stop it before it is destroyed.
class OutboxRelay {
 public:
  // `owner` names it among all relays of the database, and is new with every start.
  OutboxRelay(OutboxRelayParts parts, OutboxRelayConfig config, std::string owner, const Executor& executor);

  void start();
  // Finishes the batch under way and gives the buckets back.
  Task<> stop();

 private:
  std::vector<BucketScan> measured() const;
  Task<> publish_loop();
  Task<bool> round();
  Task<bool> look_for_loss();
  Task<bool> read();
  Task<> back_off();
  BatchLimits limits(size_t buckets) const;
  Task<> work(std::vector<OutboxRow> rows);
  Task<> try_away(AwayPartitions::Probe probe);
  Task<> hold_round();
  Task<> hold();

  OutboxStore& store_;
  Clock& clock_;
  Random& random_;
  const std::string owner_;
  const OutboxRelayConfig config_;
  OutboxProgress progress_;
  OutboxSender sender_;
  OutboxUpkeep upkeep_;
  Bell::Listener listener_;
  Instant held_until_{};
  Instant rewind_due_{};
  std::set<int32_t> in_work_;  // buckets
  std::string trouble_;        // of a batch; empty: none
  bool stopping_ = false;
  Wakeup stop_;
  Wakeup finished_;  // a batch
  TaskScope batches_;
  TaskScope publishing_;
  TaskScope keeping_;
};

}  // namespace sluice::messaging
