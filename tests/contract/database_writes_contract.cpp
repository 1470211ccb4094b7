// Reads and single writes: an acknowledged write is there, a failing one fails alone, and callers may be many.
#include <deque>
#include <thread>

#include "adapters/sql/driver/patient_database.h"
#include "tests/contract/database_tables.h"

namespace sluice::test {

namespace contract {

inline sql::TxTask<> use_no_such_table(sql::Tx& tx) {
  co_await tx.execute("UPDATE no_such_table SET a = 1");
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

}  // namespace contract

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

TEST_P(DatabaseContract, a_patient_user_waits_for_what_is_not_migrated_yet) {
  sql::PatientDatabase patient(database());
  EXPECT_THROW(run(patient.read("SELECT * FROM no_such_table")), EngineUnavailable);
  EXPECT_THROW(run(patient.write("INSERT INTO no_such_table VALUES (1)")), EngineUnavailable);
  EXPECT_THROW(run(patient.transact(contract::use_no_such_table)), EngineUnavailable);
  run(patient.transact(contract::insert_two, 1, 2));
  EXPECT_EQ(count(), 2);
  EXPECT_THROW(run(patient.transact(contract::insert_two, 2, 3)), sql::ConstraintViolation);
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
