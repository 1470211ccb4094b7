// Transactions: all or nothing, alone, and again where the engine asks for it.
#include "tests/contract/database_tables.h"

namespace sluice::test {

namespace contract {

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline TxTask<> insert_and_throw(Tx& tx, int64_t id) {
  Params params(id, "never seen");
  co_await tx.execute(insert_item, std::move(params));
  throw Refused("changed my mind");
}

inline TxTask<> insert_and_swallow(Tx& tx, int64_t id, int64_t taken) {
  Params params(id, "never seen");
  co_await tx.execute(insert_item, std::move(params));
  try {
    Params again(taken, "taken");
    co_await tx.execute(insert_item, std::move(again));
  } catch (const sql::ConstraintViolation&) {
    // a body that thinks it knows better
  }
}

inline TxTask<int64_t> increment(Tx& tx, int64_t id) {
  Params key(id);
  const Rows rows = co_await tx.execute(select_amount, std::move(key));
  const int64_t next = rows.one().integer(0) + 1;
  Params update(id, next);
  co_await tx.execute(set_amount, std::move(update));
  co_return next;
}

inline Task<> increment_often(Database& database, int64_t id, int times) {
  for (int i = 0; i < times; ++i) co_await database.transact(increment, id);
}

inline constexpr Statement pause_inside{
    Statement::PerDialect{.postgres = "SELECT 1 FROM pg_sleep(0.1)", .sqlite = "SELECT 1"}};

// Uses its arguments up, so that a second attempt shows whether they were bound anew.
inline TxTask<> add_to_both(Tx& tx, std::string first, std::string second) {
  Params one(std::move(first), 1);
  co_await tx.execute(add_amount, std::move(one));
  co_await tx.execute(pause_inside);
  Params two(std::move(second), 1);
  co_await tx.execute(add_amount, std::move(two));
}

inline TxTask<std::vector<Time>> now_twice(Tx& tx) {
  const Rows first = co_await tx.execute("SELECT now()");
  co_await tx.execute(pause_inside);
  const Rows second = co_await tx.execute("SELECT now()");
  co_return std::vector<Time>{first.one().time(0), second.one().time(0)};
}

inline TxTask<std::string> read_own_write(Tx& tx) {
  Params params(7, "seven");
  co_await tx.execute(insert_item, std::move(params));
  const Rows rows = co_await tx.execute(select_name, Params(7));
  co_return rows.one().text(0);
}

}  // namespace contract

TEST_P(DatabaseContract, a_transaction_commits_as_a_whole) {
  run(database().transact(contract::insert_two, 1, 2));
  EXPECT_EQ(count(), 2);
  EXPECT_THROW(run(database().transact(contract::insert_two, 3, 1)), sql::ConstraintViolation);
  EXPECT_EQ(count(), 2);
}

TEST_P(DatabaseContract, an_exception_from_a_body_rolls_back_and_comes_through) {
  EXPECT_THROW(run(database().transact(contract::insert_and_throw, 1)), contract::Refused);
  EXPECT_EQ(count(), 0);
}

TEST_P(DatabaseContract, a_failing_transaction_among_others_fails_alone) {
  std::vector<Task<>> transactions;
  for (int64_t id = 0; id < 20; ++id) {
    transactions.push_back(id == 7 ? database().transact(contract::insert_and_throw, id)
                                   : database().transact(contract::insert_two, 2 * id, 2 * id + 1));
  }
  const auto outcomes = run_all(std::move(transactions));
  for (size_t id = 0; id < 20; ++id) EXPECT_EQ(static_cast<bool>(outcomes[id].error), id == 7) << id;
  EXPECT_EQ(count(), 38);
}

TEST_P(DatabaseContract, a_transaction_whose_statement_failed_never_commits) {
  run(contract::insert(database(), 1, "taken"));
  EXPECT_THROW(run(database().transact(contract::insert_and_swallow, 2, 1)), sql::ConstraintViolation);
  EXPECT_EQ(count(), 1);
}

TEST_P(DatabaseContract, a_transaction_reads_its_own_writes) {
  EXPECT_EQ(run(database().transact(contract::read_own_write)), "seven");
}

TEST_P(DatabaseContract, concurrent_increments_lose_nothing) {
  run(contract::insert(database(), 1, "counter"));
  std::vector<Task<>> callers;
  for (int i = 0; i < 8; ++i) callers.push_back(contract::increment_often(database(), 1, 25));
  for (const auto& outcome : run_all(std::move(callers))) {
    if (outcome.error) std::rethrow_exception(outcome.error);
  }
  EXPECT_EQ(run(database().transact(contract::increment, 1)), 201);
}

TEST_P(DatabaseContract, transactions_that_lock_in_opposite_orders_both_succeed) {
  run(contract::insert_many(database(), 1, 2));
  std::vector<Task<>> both;
  both.push_back(database().transact(contract::add_to_both, "item 1", "item 2"));
  both.push_back(database().transact(contract::add_to_both, "item 2", "item 1"));
  for (const auto& outcome : run_all(std::move(both))) {
    if (outcome.error) std::rethrow_exception(outcome.error);
  }
  const Rows amounts = run(database().read("SELECT amount FROM contract_items ORDER BY id"));
  EXPECT_EQ(amounts[0].integer(0), 2);
  EXPECT_EQ(amounts[1].integer(0), 2);
}

TEST_P(DatabaseContract, now_stands_still_inside_a_transaction) {
  const std::vector<Time> times = run(database().transact(contract::now_twice));
  EXPECT_EQ(times[0], times[1]);
  EXPECT_GT(times[0], *parse_time("2020-01-01T00:00:00.000Z"));
  const Rows later = run(database().read("SELECT now()"));
  EXPECT_GE(later.one().time(0), times[0]);
}

}  // namespace sluice::test
