// What every sql::Database promises, tried on a real engine.
//
//   INSTANTIATE_TEST_SUITE_P(Sqlite, DatabaseContract, testing::Values(...));
#pragma once

#include <deque>
#include <limits>
#include <thread>

#include "tests/contract/database_fixture.h"

namespace sluice::test {

using sql::Database;
using sql::Null;
using sql::Params;
using sql::Rows;
using sql::Statement;
using sql::Tx;
using sql::TxTask;

namespace contract {

inline constexpr Statement drop_items{"DROP TABLE IF EXISTS contract_items"};
inline constexpr Statement make_items{
    "CREATE TABLE contract_items (id bigint PRIMARY KEY, name text NOT NULL UNIQUE, amount bigint NOT NULL DEFAULT 0 "
    "CONSTRAINT amount_not_negative CHECK (amount >= 0), parent bigint REFERENCES contract_items (id))"};
inline constexpr Statement insert_item{"INSERT INTO contract_items (id, name) VALUES ($1, $2)"};
inline constexpr Statement insert_amount{"INSERT INTO contract_items (id, name, amount) VALUES ($1, $2, $3)"};
inline constexpr Statement insert_child{"INSERT INTO contract_items (id, name, parent) VALUES ($1, $2, $3)"};
inline constexpr Statement select_name{"SELECT name FROM contract_items WHERE id = $1"};
inline constexpr Statement count_items{"SELECT count(*) FROM contract_items"};
inline constexpr Statement add_amount{"UPDATE contract_items SET amount = amount + $2 WHERE name = $1"};
// The lock that a read-modify-write needs; SQLite has one writer and needs none.
inline constexpr Statement select_amount{
    Statement::PerDialect{.postgres = "SELECT amount FROM contract_items WHERE id = $1 FOR UPDATE",
                          .sqlite = "SELECT amount FROM contract_items WHERE id = $1"}};
inline constexpr Statement set_amount{"UPDATE contract_items SET amount = $2 WHERE id = $1"};

inline constexpr Statement drop_values{"DROP TABLE IF EXISTS contract_values"};
inline constexpr Statement make_values{Statement::PerDialect{
    .postgres = "CREATE TABLE contract_values (id bigint PRIMARY KEY, truth boolean, whole bigint, real double "
                "precision, words text, raw bytea, moment timestamptz, token uuid)",
    .sqlite = "CREATE TABLE contract_values (id INTEGER PRIMARY KEY, truth INTEGER, whole INTEGER, real REAL, words "
              "TEXT, raw BLOB, moment INTEGER, token BLOB) STRICT"}};
inline constexpr Statement insert_values{
    "INSERT INTO contract_values (id, truth, whole, real, words, raw, moment, token) "
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"};
inline constexpr Statement select_values{
    "SELECT truth, whole, real, words, raw, moment, token FROM contract_values WHERE id = $1"};

inline Task<> make_tables(Database& database) {
  for (const Statement& statement : {drop_items, make_items, drop_values, make_values}) {
    co_await database.write(statement);
  }
}

inline Task<> insert(Database& database, int64_t id, std::string name) {
  Params params(id, std::move(name));
  co_await database.write(insert_item, std::move(params));
}

inline Task<int64_t> count(Database& database) {
  const Rows rows = co_await database.read(count_items);
  co_return rows.one().integer(0);
}

inline TxTask<> insert_two(Tx& tx, int64_t first, int64_t second) {
  Params one(first, "item " + std::to_string(first));
  co_await tx.execute(insert_item, std::move(one));
  Params two(second, "item " + std::to_string(second));
  co_await tx.execute(insert_item, std::move(two));
}

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

inline Task<Rows> round_trip(Database& database, int64_t id, Params values) {
  Params all(id);
  for (const sql::Value& value : values.values()) all.add(value);
  co_await database.write(insert_values, std::move(all));
  Rows rows = co_await database.read(select_values, Params(id));
  co_return rows;
}

inline Task<std::vector<std::thread::id>> threads_after_each_call(Database& database) {
  std::vector<std::thread::id> threads;
  co_await database.read(count_items);
  threads.push_back(std::this_thread::get_id());
  co_await insert(database, 1, "one");
  threads.push_back(std::this_thread::get_id());
  co_await database.transact(insert_two, 2, 3);
  threads.push_back(std::this_thread::get_id());
  co_return threads;
}

inline Task<> insert_many(Database& database, int64_t first, int64_t count) {
  for (int64_t id = first; id < first + count; ++id) co_await insert(database, id, "item " + std::to_string(id));
}

}  // namespace contract

class DatabaseContract : public DatabaseFixture {
 protected:
  void SetUp() override {
    DatabaseFixture::SetUp();
    run(contract::make_tables(database()));
  }

  int64_t count() { return run(contract::count(database())); }

  sql::ConstraintViolation::Kind kind_of_violation(Statement statement, Params params) {
    try {
      run(database().write(statement, std::move(params)));
    } catch (const sql::ConstraintViolation& violation) {
      EXPECT_FALSE(violation.constraint().empty());
      return violation.kind();
    }
    throw std::runtime_error("nothing was violated");
  }
};

TEST_P(DatabaseContract, a_read_sees_what_was_acknowledged) {
  for (int64_t id = 0; id < 50; ++id) {
    run(contract::insert(database(), id, "item " + std::to_string(id)));
    const Rows rows = run(database().read(contract::select_name, Params(id)));
    ASSERT_EQ(rows.one().text(0), "item " + std::to_string(id));
  }
}

TEST_P(DatabaseContract, concurrent_writes_all_arrive) {
  std::vector<Task<>> writes;
  for (int64_t id = 0; id < 200; ++id) writes.push_back(contract::insert(database(), id, std::to_string(id)));
  for (const auto& outcome : run_all(std::move(writes))) EXPECT_FALSE(outcome.error);
  EXPECT_EQ(count(), 200);
}

TEST_P(DatabaseContract, a_failing_write_among_others_fails_alone) {
  run(contract::insert(database(), 13, "taken"));
  std::vector<Task<>> writes;
  for (int64_t id = 0; id < 30; ++id) writes.push_back(contract::insert(database(), id, std::to_string(id)));
  const auto outcomes = run_all(std::move(writes));
  for (size_t id = 0; id < 30; ++id) EXPECT_EQ(static_cast<bool>(outcomes[id].error), id == 13) << id;
  EXPECT_THROW(std::rethrow_exception(outcomes[13].error), sql::ConstraintViolation);
  EXPECT_EQ(count(), 30);
}

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

TEST_P(DatabaseContract, violations_tell_their_kind) {
  using Kind = sql::ConstraintViolation::Kind;
  run(contract::insert(database(), 1, "one"));
  EXPECT_EQ(kind_of_violation(contract::insert_item, Params(1, "other")), Kind::unique);
  EXPECT_EQ(kind_of_violation(contract::insert_item, Params(2, "one")), Kind::unique);
  EXPECT_EQ(kind_of_violation(contract::insert_item, Params(2, Null{})), Kind::not_null);
  EXPECT_EQ(kind_of_violation(contract::insert_amount, Params(2, "two", -1)), Kind::check);
  EXPECT_EQ(kind_of_violation(contract::insert_child, Params(2, "two", 99)), Kind::foreign_key);
  EXPECT_EQ(count(), 1);
}

TEST_P(DatabaseContract, a_wrong_statement_harms_nobody_else) {
  EXPECT_THROW(run(database().read("SELEC 1")), sql::StatementError);
  EXPECT_THROW(run(database().write("INSERT INTO no_such_table VALUES (1)")), sql::StatementError);
  run(contract::insert(database(), 1, "one"));
  EXPECT_EQ(count(), 1);
}

TEST_P(DatabaseContract, values_come_back_as_they_went) {
  SeededRandom random(1);
  const Uuid token = Uuid::v7(Time{5s}, random);
  const Bytes raw = {0, 1, 0, 255, 0};
  const Time moment{Duration{1'777'000'000'123'456}};
  const Rows rows = run(
      contract::round_trip(database(), 1, Params(true, int64_t{42}, -0.125, "Grüße 'quoted' $1", raw, moment, token)));
  const sql::Row& row = rows.one();
  EXPECT_TRUE(row.boolean(0));
  EXPECT_EQ(row.integer(1), 42);
  EXPECT_EQ(row.real(2), -0.125);
  EXPECT_EQ(row.text(3), "Grüße 'quoted' $1");
  EXPECT_EQ(row.bytes(4), raw);
  EXPECT_EQ(row.time(5), moment);
  EXPECT_EQ(row.uuid(6), token);
}

TEST_P(DatabaseContract, null_is_not_empty) {
  const Rows nulls =
      run(contract::round_trip(database(), 1, Params(Null{}, Null{}, Null{}, Null{}, Null{}, Null{}, Null{})));
  for (size_t column = 0; column < 7; ++column) EXPECT_TRUE(nulls.one().is_null(column)) << column;
  const Rows empty = run(contract::round_trip(database(), 2, Params(false, 0, 0.0, "", Bytes{}, Time{}, Uuid{})));
  for (size_t column = 0; column < 7; ++column) EXPECT_FALSE(empty.one().is_null(column)) << column;
  EXPECT_EQ(empty.one().text(3), "");
  EXPECT_EQ(empty.one().bytes(4), Bytes{});
  EXPECT_EQ(empty.one().uuid(6), Uuid{});
}

TEST_P(DatabaseContract, extremes_survive) {
  using Limits = std::numeric_limits<int64_t>;
  const std::string words(3'000'000, 'w');
  Bytes raw(1'000'000);
  for (size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<uint8_t>(i * 7);
  const Time before_1970{Duration{-1'234'567'890'123}};
  const Time late = *parse_time("9999-12-31T23:59:59.999Z");
  const double tiny = std::numeric_limits<double>::denorm_min();
  const double huge = std::numeric_limits<double>::max();
  const Rows low =
      run(contract::round_trip(database(), 1, Params(false, Limits::min(), tiny, words, raw, before_1970, Uuid{})));
  EXPECT_EQ(low.one().integer(1), Limits::min());
  EXPECT_EQ(low.one().real(2), tiny);
  EXPECT_EQ(low.one().text(3), words);
  EXPECT_EQ(low.one().bytes(4), raw);
  EXPECT_EQ(low.one().time(5), before_1970);
  const Rows high =
      run(contract::round_trip(database(), 2, Params(true, Limits::max(), huge, "", Bytes{}, late, Uuid{})));
  EXPECT_EQ(high.one().integer(1), Limits::max());
  EXPECT_EQ(high.one().real(2), huge);
  EXPECT_EQ(high.one().time(5), late);
}

TEST_P(DatabaseContract, a_parameter_may_be_used_twice_and_in_any_order) {
  run(contract::insert(database(), 1, "one"));
  const Statement statement{"SELECT id FROM contract_items WHERE name = $2 AND id = $1 AND id <= $1"};
  EXPECT_EQ(run(database().read(statement, Params(1, "one"))).one().integer(0), 1);
}

TEST_P(DatabaseContract, affected_rows_are_counted_and_returned) {
  run(contract::insert_many(database(), 1, 5));
  const Rows updated = run(database().write("UPDATE contract_items SET amount = 1 WHERE id > $1", Params(2)));
  EXPECT_EQ(updated.affected, 3);
  const Rows returned = run(database().write("DELETE FROM contract_items WHERE id <= $1 RETURNING id", Params(2)));
  EXPECT_EQ(returned.affected, 2);
  EXPECT_EQ(returned.size(), 2u);
  EXPECT_EQ(run(database().write("DELETE FROM contract_items WHERE id = $1", Params(99))).affected, 0);
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

TEST_P(DatabaseContract, what_exceeds_the_queue_is_refused_and_leaves_no_trace) {
  close();
  open(4);
  run(contract::make_tables(database()));
  std::vector<Task<>> writes;
  for (int64_t id = 0; id < 100; ++id) writes.push_back(contract::insert(database(), id, std::to_string(id)));
  int64_t accepted = 0;
  for (const auto& outcome : run_all(std::move(writes))) {
    if (outcome.error) {
      EXPECT_THROW(std::rethrow_exception(outcome.error), Overloaded);
    } else {
      ++accepted;
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 100);
  EXPECT_EQ(count(), accepted);
}

TEST_P(DatabaseContract, results_arrive_on_the_callers_executor) {
  for (const std::thread::id thread : run(contract::threads_after_each_call(database()))) {
    EXPECT_EQ(thread, std::this_thread::get_id());
  }
}

TEST_P(DatabaseContract, callers_on_many_threads_share_it) {
  std::deque<asio::io_context> contexts(4);
  std::vector<std::exception_ptr> errors(4);
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < 4; ++i) {
    const auto index = static_cast<size_t>(i);
    threads.emplace_back([this, i, &io = contexts[index], &error = errors[index]] {
      for (int64_t caller = 0; caller < 4; ++caller) {
        asio::co_spawn(io, contract::insert_many(database(), 1000 * i + 100 * caller, 25),
                       [&error](std::exception_ptr failed) {
                         if (failed) error = std::move(failed);
                       });
      }
      io.run();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  EXPECT_EQ(count(), 400);
  close();  // before the contexts of its callers
}

}  // namespace sluice::test
