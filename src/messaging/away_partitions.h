// Partitions of the log that do not answer while others do.
//
// A partition without a leader, or whose server is down, delays only the messages that belong to it. Their rows are
// skipped, each with all later ones of its aggregate, in any partition; periodically one row is tried. Once that one is
// answered, all skipped rows are read again, from the start.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_set>

#include "messaging/log_shares.h"
#include "messaging/outbox_store.h"
#include "runtime/clock.h"
#include "runtime/retry.h"

namespace sluice::messaging {

// Belongs to one executor.
class AwayPartitions {
 public:
  // The row with which a partition is tried, and how long to wait for its answer.
  struct Probe {
    LogPartition partition;
    OutboxMark row;
    Duration patience;
  };

  // `patience`: how long the log may take for an answer.
  AwayPartitions(MessageLog& log, Clock& clock, Random& random, Duration patience)
      : log_(log), clock_(clock), random_(random), patience_(patience) {}

  // The row's outcome is unknown; all earlier ones of its aggregate are published. Throws EngineUnavailable where the
  // log does not say how many partitions there are.
  Task<> add(OutboxMark row, std::string aggregate, std::string topic, std::string key);

  bool empty() const { return away_.empty(); }
  // Whether the row has to wait; then the later ones of its aggregate have to wait with it.
  bool passes_over(const OutboxRow& row);
  // So many wait that no more can be remembered: nothing more may be read.
  bool full() const;

  // A partition that is due; it is not due again before either of these was reported for it.
  std::optional<Probe> due();
  void silent(const LogPartition& partition);
  void answered(const LogPartition& partition);
  Instant next_due() const;

  // Changes each time rows are to be read again: rows read before are void.
  uint64_t era() const { return era_; }

 private:
  struct Away {
    OutboxMark row;
    Instant due;
    unsigned tries = 0;
  };
  Instant later(unsigned tries);

  MessageLog& log_;
  Clock& clock_;
  Random& random_;
  const Duration patience_;
  std::map<std::string, int32_t> partitions_;  // of topics
  std::map<LogPartition, Away> away_;
  // Hashes of aggregates with waiting rows; a collision only makes another aggregate wait too.
  std::unordered_set<size_t> waiting_;
  uint64_t era_ = 0;
};

}  // namespace sluice::messaging
