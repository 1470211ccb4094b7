// The fixture of inbox_contract.cpp, for the engines that run it.
#pragma once

#include <random>

#include "adapters/sql/messaging/inbox.h"
#include "runtime/system_clock.h"
#include "runtime/virtual_clock.h"
#include "tests/contract/database_fixture.h"

namespace sluice::test {

namespace inbox_contract {

using messaging::MessageId;
using sql::Params;
using sql::Rows;
using sql::Statement;
using sql::Tx;
using sql::TxTask;

inline constexpr Statement drop_effects = "DROP TABLE IF EXISTS inbox_effects";
inline constexpr Statement make_effects = "CREATE TABLE inbox_effects (name text PRIMARY KEY, times bigint NOT NULL)";
inline constexpr Statement take_effect =
    "INSERT INTO inbox_effects AS kept (name, times) VALUES ($1, 1) "
    "ON CONFLICT (name) DO UPDATE SET times = kept.times + 1";
inline constexpr Statement read_effect = "SELECT times FROM inbox_effects WHERE name = $1";
inline constexpr Statement grow_old{Statement::PerDialect{
    .postgres = "UPDATE inbox SET seen_at = seen_at - $2 * interval '1 microsecond' WHERE consumer = $1",
    .sqlite = "UPDATE inbox SET seen_at = seen_at - $2 WHERE consumer = $1"}};

inline constexpr Statement count_seen = "SELECT count(*) FROM inbox WHERE consumer = $1";

inline TxTask<bool> handle(Tx& tx, std::string consumer, MessageId message, std::string effect, bool fails) {
  const bool first = co_await sql::first_time(tx, std::move(consumer), message);
  if (!first) co_return false;
  Params params(std::move(effect));
  co_await tx.execute(take_effect, std::move(params));
  if (fails) throw std::runtime_error("after the effect");
  co_return true;
}

}  // namespace inbox_contract

class InboxContract : public DatabaseFixture {
 protected:
  using MessageId = messaging::MessageId;

  void SetUp() override {
    DatabaseFixture::SetUp();
    using namespace inbox_contract;
    for (const sql::Statement& statement : {drop_effects, make_effects}) run(database().write(statement));
    consumer_ = MessageId::make({}, random_).text();  // the table may outlast a test
  }

  MessageId message() { return MessageId::make({}, random_); }
  Task<bool> handling(MessageId message, bool fails = false) {
    return database().transact(inbox_contract::handle, consumer_, message, message.text(), fails);
  }
  bool handle(MessageId message) { return run(handling(message)); }
  int64_t effects(MessageId message) {
    const sql::Rows rows = run(database().read(inbox_contract::read_effect, sql::Params(message.text())));
    return rows.empty() ? 0 : rows.one().integer(0);
  }
  void grow_old(Duration by) { run(database().write(inbox_contract::grow_old, sql::Params(consumer_, by.count()))); }

  SeededRandom random_{std::random_device{}()};
  std::string consumer_;
};

}  // namespace sluice::test
