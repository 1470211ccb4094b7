// The fixture of outbox_contract.cpp, for the engines that run it.
#pragma once

#include "adapters/sql/messaging/outbox.h"
#include "adapters/sql/messaging/outbox_headers.h"
#include "tests/contract/database_fixture.h"

namespace sluice::test {

class OutboxContract : public DatabaseFixture {
 protected:
  using OutboxMessage = messaging::OutboxMessage;

  // Of an aggregate that no other test uses.
  OutboxMessage message(const std::string& aggregate, int64_t version = 1) {
    return {.topic = "payment.events",
            .aggregate_type = "payment",
            .aggregate_id = aggregate,
            .aggregate_version = version,
            .event_type = "PaymentSuccess",
            .payload = R"({"amount":1})",
            .headers = {},
            .id = messaging::MessageId::make(Time{}, random_)};
  }
  static sql::TxTask<> append_body(sql::Tx& tx, sql::Outbox outbox, OutboxMessage message) {
    co_await outbox.append(tx, std::move(message));
  }
  static sql::TxTask<> regretted_body(sql::Tx& tx, sql::Outbox outbox, OutboxMessage message) {
    co_await outbox.append(tx, std::move(message));
    throw std::runtime_error("no");
  }
  void append(OutboxMessage message) { run(database().transact(append_body, outbox_, std::move(message))); }
  sql::Rows rows_of(const std::string& aggregate) {
    return run(
        database().read("SELECT message_id, topic, aggregate_type, aggregate_version, event_type, payload, "
                        "headers, published, bucket, id FROM outbox_events WHERE aggregate_id = $1 ORDER BY id",
                        sql::Params(aggregate)));
  }

  SeededRandom random_{std::random_device{}()};
  messaging::Bell bell_;
  sql::Outbox outbox_{bell_};
};

}  // namespace sluice::test
