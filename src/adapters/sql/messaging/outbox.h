// Tells of a change in the transaction of the change: both are committed, or neither.
//
// A store keeps one by value, appends in the body of its transaction and announces after the commit:
//
//   TxTask<> settle(Tx& tx, Outbox outbox, Payment payment) {
//     ...  // locks the payment's row
//     co_await outbox.append(tx, std::move(message));
//   }
//
// The body changes (so locks) the aggregate's row before it appends: then a reader that sees a message of an aggregate
// sees all earlier ones, and the order of the rows is the order of the changes.
#pragma once

#include "adapters/sql/driver/tx_task.h"
#include "messaging/bell.h"
#include "messaging/outbox_message.h"

namespace sluice::sql {

// Safe to use from any thread.
class Outbox {
 public:
  // Rows for relays (messaging/outbox_relay.h) to publish. On PostgreSQL the service needs no right but to call
  // common.append_outbox. `bell` wakes the relays of this process and outlives all copies. A message that no log takes
  // (nameless topic or aggregate, too large) undoes the change.
  explicit Outbox(messaging::Bell& bell) : bell_(&bell) {}

  // With SQLite and the embedded log: the message is in the log itself when the change commits, without a relay. `bell`
  // is the log's. A message that the log would reject (unknown topic, too large) undoes the change.
  static Outbox into_embedded_log(messaging::Bell& bell) {
    Outbox outbox(bell);
    outbox.into_ = Into::embedded_log;
    return outbox;
  }

  TxTask<> append(Tx& tx, messaging::OutboxMessage message) const;

  // After the commit; without it the message is found at the next poll.
  void announce() const { bell_->ring(); }

 private:
  enum class Into { rows, embedded_log };

  messaging::Bell* bell_;
  Into into_ = Into::rows;
};

}  // namespace sluice::sql
