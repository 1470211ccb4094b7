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

#include "messaging/away_partitions.h"
#include "messaging/bell.h"
#include "messaging/outbox_cursors.h"
#include "messaging/outbox_topics.h"
#include "messaging/outbox_upkeep.h"
#include "runtime/config_fwd.h"
#include "runtime/retry.h"
#include "runtime/task_scope.h"

namespace sluice::messaging {

struct OutboxRelayParts {
  OutboxStore& store;
  MessageLog& log;
  Bell& bell;
  Clock& clock;
  Random& random;
};

struct OutboxRelayConfig {
  size_t batch = 100;
  size_t batches = 4;  // at once
  Duration poll = 1s;  // where no bell rings
  // Longer than the engines' own timeouts: otherwise the outcome of the rest of a batch would be unknown.
  Duration send_timeout = 8s;
  int tries = 3;
  Duration retry_after = 1s;
  // How long a silent relay keeps its buckets.
  Duration lease = 10s;
  // Redis' rarest snapshot by default is after an hour.
  Duration rerun_margin = 1h;
  OutboxUpkeepConfig upkeep{};

  static void describe(config::Section<OutboxRelayConfig>& section);
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
  Task<> publish(std::vector<OutboxRow> rows);
  Task<> try_away(AwayPartitions::Probe probe);
  Task<> probe(AwayPartitions::Probe probe);
  Task<std::vector<Published>> send_piece(std::vector<OutboxRow>& piece);
  Task<std::vector<Published>> send(std::vector<OutboxRow>& rows, Duration patience);
  Task<> settle(std::vector<OutboxRow> rows, std::vector<Published> outcomes);
  Task<> refuse(OutboxRow row, std::string reason);
  Task<> hold_round();
  Task<> hold();

  OutboxStore& store_;
  MessageLog& log_;
  Clock& clock_;
  Random& random_;
  const std::string owner_;
  const OutboxRelayConfig config_;
  OutboxCursors cursors_;
  OutboxTopics topics_;
  AwayPartitions away_;
  OutboxUpkeep upkeep_;
  Bell::Listener listener_;
  Instant held_until_{};
  Instant rewind_due_{};
  std::set<int32_t> in_work_;  // buckets
  std::string trouble_;        // of a batch; empty: none
  // Goes to the log at once: less after each time that this was too much for it, or took it too long.
  static constexpr size_t largest_piece = max_message_bytes;
  static constexpr size_t smallest_piece = 16 << 10;
  size_t piece_bytes_ = largest_piece;
  unsigned failed_ = 0;  // rounds, one after the other
  bool stopping_ = false;
  Wakeup stop_;
  Wakeup finished_;  // a batch
  TaskScope batches_;
  TaskScope publishing_;
  TaskScope keeping_;
};

}  // namespace sluice::messaging
