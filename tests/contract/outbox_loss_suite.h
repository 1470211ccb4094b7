// The fixture of outbox_loss_contract.cpp, for the engines that run it.
#pragma once

#include "tests/contract/dying_database.h"
#include "tests/contract/outbox_store_suite.h"

namespace sluice::test {

class OutboxLossContract : public OutboxStoreContract {
 protected:
  using Memory = messaging::MessageLog::Memory;

  bool remember(const Memory& memory, Duration margin = 1min) {
    return run(store_->remember("payment.events", memory, margin));
  }
  // As a relay that is killed after so many transactions.
  void remember_and_die(const Memory& memory, int transactions) {
    DyingDatabase database(this->database(), transactions);
    sql::SqlOutboxStore store(database);
    run(store.remember("payment.events", memory, 1min));
  }
  // The numbers from `first` to `last`, each a row: 64 aggregates, in a bucket each, take turns.
  void add(int64_t first, int64_t last) {
    const auto id = messaging::MessageId::make(Time{}, random_);
    run(database().write(add_rows, sql::Params(first, last, id, Bytes{1, 2, 3})));
  }
  void publish(int64_t first, int64_t last) {
    add(first, last);
    publish_all();
  }
  void publish_all() { run(database().write("UPDATE outbox_events SET published = true, published_at = now()")); }
  int64_t unpublished() {
    return run(database().read("SELECT count(*) FROM outbox_events WHERE NOT published")).one().integer(0);
  }

 private:
  static constexpr sql::Statement add_rows =
      "WITH RECURSIVE series (number) AS (SELECT CAST($1 AS bigint) UNION ALL SELECT number + 1 FROM series "
      "                                  WHERE number < $2) "
      "INSERT INTO outbox_events (bucket, message_id, topic, aggregate_type, aggregate_id, aggregate_version, "
      "  event_type, payload, headers, created_at) "
      "SELECT number % 64, $3, 'payment.events', 'payment', CAST(number % 64 AS text), (number + 63) / 64, "
      "'PaymentSuccess', "
      "  $4, '{}', now() FROM series ORDER BY number";
};

}  // namespace sluice::test
