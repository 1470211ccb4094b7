// The position of a relay in its buckets.
//
// Reading a bucket from its start each time would walk over every row published since the oldest transaction of the
// database began, because those cannot be cleaned up yet. Continuing behind the last id seen would lose rows, or take
// an aggregate's later row before an earlier one, because ids become visible out of order. So a scan moves up to an id
// once every transaction that was open when the id was seen has ended: then nothing can appear below it. These
// transactions are known from the next read on (OutboxBatch). A transaction that stays open for long is not waited for;
// when it ends, everything is read from the start.
//
// An aggregate whose row was refused is delayed for a while, with its later rows; then its bucket is read from the
// start.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "messaging/outbox_store.h"
#include "runtime/clock.h"

namespace sluice::messaging {

// Belongs to one executor.
class OutboxCursors {
 public:
  // Sets the buckets that the relay holds. Buckets under a new fence are read from their start. True if there are such.
  bool adopt(const std::vector<HeldBucket>& held);

  // All buckets but those in work, each time beginning behind the one where the last batch ended, so that a busy one
  // does not starve the rest.
  std::vector<BucketScan> plan(const std::set<int32_t>& in_work = {}) const;
  // A batch was read as planned. False: earlier rows may have appeared meanwhile, so that it is void and all is to be
  // read again.
  bool advance(const std::vector<BucketScan>& planned, const OutboxBatch& batch, BatchLimits limits, Instant now);
  void rewind();

  void hold_off(const OutboxRow& row, Instant until);
  std::vector<std::string> held_off() const;
  // Ends the delays that are over.
  void release(Instant now);
  Instant next_release() const;

 private:
  // The next place of a scan, seen by the transaction `reader`.
  struct Step {
    int64_t id = 0;
    int64_t reader = 0;
    Instant since;
  };
  struct Place {
    int64_t fence = 0;
    int64_t after = 0;
    std::optional<Step> next{};
  };
  struct Wait {
    int32_t bucket = 0;
    Instant until;
  };
  // `read_to`: all that was visible up to this id has been read.
  void advance(Place& place, int64_t highest, int64_t read_to, const OutboxBatch& batch, Instant now);

  std::map<int32_t, Place> places_;
  int32_t first_ = 0;              // where the next plan begins
  std::set<int64_t> not_awaited_;  // transactions that were open for long when a place moved on
  // As many as are refused within the time that they wait.
  std::map<std::string, Wait> waiting_;
};

}  // namespace sluice::messaging
