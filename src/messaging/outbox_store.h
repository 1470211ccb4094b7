// The outbox of one database, as relays see it.
//
// Rows are spread over 64 buckets by their aggregate, and relays share the buckets by lease. Only the holder of a
// bucket reads and marks its rows, in the order of their ids, so an aggregate's messages are published in order however
// many relays there are. Each time a bucket's rows may have to be looked at afresh (another holder, a replayed row, a
// log that lost its memory) its fence grows; reading or marking under an old fence does nothing.
//
// Every implementation passes tests/contract/outbox_store_contract.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "messaging/message_log.h"

namespace sluice::messaging {

inline constexpr int32_t outbox_buckets = 64;

struct HeldBucket {
  int32_t bucket = 0;
  int64_t fence = 0;
  friend auto operator<=>(const HeldBucket&, const HeldBucket&) = default;
};

// The position from which a bucket is read on.
struct BucketScan {
  HeldBucket held;
  int64_t after = 0;  // an id
};

// A statement about a row, by the holder of its bucket.
struct OutboxMark {
  int64_t id = 0;
  HeldBucket held;
};

struct OutboxRow {
  OutboxMark mark;
  std::string aggregate;  // names it among all; the message's key is its id alone
  Message message;
  std::string unreadable{};  // why the row can't become a message, which is its own fault; empty: it can
};

struct BatchLimits {
  size_t rows = 100;
  size_t of_bucket = 100;
  size_t bytes = 8 << 20;  // of payloads and headers; a batch ends with the row that reaches it
};

struct OutboxBatch {
  std::vector<OutboxRow> rows{};
  bool cut = false;  // a limit was reached: there may be more behind the last row, in its bucket and the next
  // The number of the transaction that read the rows; 0 if there are none, or if only one transaction writes at a time.
  // Every transaction that can still add a row with an id below one of these has a lower number and is open.
  int64_t reader = 0;
  // Transactions that were open when this batch was read, by number, growing. Complete below the `reader` of every
  // earlier batch; above that some may be missing.
  std::vector<int64_t> open_writers{};
};

// A larger lag is not counted exactly, because counting is expensive.
inline constexpr int64_t most_lag = 100'000;

struct OutboxLag {
  int64_t unpublished = 0;       // up to most_lag; without those that wait behind a dead one
  std::optional<Time> oldest{};  // when the oldest of these was written
  int64_t dead = 0;              // refused for good: their aggregates wait for an operator; up to most_lag of a bucket
};

enum class Refusal { counted, dead, nothing };  // nothing: not ours any more

// Safe to use from any thread. All throw EngineUnavailable.
class OutboxStore {
 public:
  virtual ~OutboxStore() = default;

  // A heartbeat: `owner` renews the buckets it holds for `ttl`, takes free ones up to its fair share among the live
  // relays and releases those beyond it. Returns the buckets it holds now.
  virtual Task<std::vector<HeldBucket>> hold(std::string owner, Duration ttl) = 0;
  // Gives all back, so that others take over at once.
  virtual Task<> release(std::string owner) = 0;

  // Unpublished rows, those of a bucket in the order of their ids, without aggregates that wait for an operator or are
  // among `without` (OutboxRow::aggregate). Buckets are looked at one after the other in the given order, until there
  // are enough.
  virtual Task<OutboxBatch> unpublished(std::vector<BucketScan> scans, BatchLimits limits,
                                        std::vector<std::string> without) = 0;

  // The log has acknowledged them.
  virtual Task<> mark_published(std::vector<OutboxMark> marks) = 0;

  // The log has refused the row for a reason of its own: counts a try; the `tries`-th moves it to the dead, and its
  // aggregate waits.
  virtual Task<Refusal> refuse(OutboxMark mark, std::string reason, int tries) = 0;

  // Records the memory (message_log.h) of a topic's log; called before the first row of the topic is published and
  // periodically. If it has changed, rows that the log may have lost are unpublished again, all fences grow, and it
  // returns true: all rows for a new life; for a new run those published from `margin` before the old one was last
  // seen. Nothing is read until that is done; if this throws in the middle, the next call of any relay continues.
  virtual Task<bool> remember(std::string topic, MessageLog::Memory memory, Duration margin) = 0;
  // Those that were ever remembered.
  virtual Task<std::vector<std::string>> topics() = 0;

  // Of these buckets, behind these places: so that rows published since the oldest transaction of the database began,
  // which cannot be cleaned up yet, are not scanned every time.
  virtual Task<OutboxLag> lag(std::vector<BucketScan> scans) = 0;

  // Looks at `most` rows behind `after` and removes those published longer than `keep` ago. Returns where to go on, or
  // nothing at the end.
  virtual Task<std::optional<int64_t>> sweep(int64_t after, size_t most, Duration keep) = 0;
};

}  // namespace sluice::messaging
