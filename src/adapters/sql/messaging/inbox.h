// A message takes effect once, however often it is delivered: the effect and "seen this message" commit together.
//
//   TxTask<Outcome> confirm(Tx& tx, MessageId message, Reservation reservation) {
//     const bool first = co_await first_time(tx, "reservation-confirmer", message);
//     if (!first) co_return Outcome::confirmed_before;
//     ...  // the effect
//   }
//
// The table is in the schema of the consumer. SQLite's file has it; on PostgreSQL each consuming service has its own
// migration for it, such as job_service/0003_inbox.sql.
#pragma once

#include <string>

#include "adapters/sql/driver/database.h"
#include "messaging/message.h"
#include "runtime/clock.h"
#include "runtime/config_fwd.h"

namespace sluice::sql {

// False if a transaction that saw the message for `consumer` (the group, mostly) has committed. One that is about to is
// waited for: of duplicates at the same time one takes effect, and another if that one fails.
TxTask<bool> first_time(Tx& tx, std::string consumer, messaging::MessageId message);

struct InboxConfig {
  // A message must be known for as long as it may come again: its topic's retention, and then its dead letter's.
  Duration retention = 15 * 24h;
  Duration every = 1min;  // how often to look for old ones
  int64_t batch = 1'000;  // removed in one transaction

  static void describe(config::Section<InboxConfig>& section);
};

// Forgets old messages, in small transactions. Safe to use from any thread.
class InboxRetention {
 public:
  InboxRetention(Database& database, Clock& clock, InboxConfig config)
      : database_(database), clock_(clock), config_(config) {}

  // One batch; how many rows it removed. Several processes at once do not wait for each other.
  Task<int64_t> remove_old();

  // A round for run_forever (runtime/retry.h): removes old rows and waits for the next time.
  Task<> round();

 private:
  Database& database_;
  Clock& clock_;
  InboxConfig config_;
};

}  // namespace sluice::sql
