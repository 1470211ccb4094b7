// Many rows of values for one statement.
//
// PostgreSQL takes them all at once, an array for each column; SQLite, where a further statement costs no round trip,
// one by one. A statement declares the columns with PostgreSQL's names of their types (bigint for any integer), and the
// fragments of sql_text.h write it for both:
//
//   @given(id uuid, token bigint) DELETE FROM locks @using_given
//   WHERE @lookup(locks.id = given.id) AND @lookup(locks.token = given.token)
//
// PostgreSQL must look each row up by its index, even without statistics: on a new database, or a table that has just
// grown, a plain join or `= ANY ($1)` is often planned as a scan of the whole table. Two forms allow only lookups under
// any assumption of the planner (tests/contract/postgres_plans.h checks the plans):
//
//   reading: CROSS JOIN LATERAL (SELECT ... FROM jobs WHERE id = given.id OFFSET 0) AS found    (@from_each, @by_index)
//            with FOR UPDATE instead of OFFSET 0 the rows are locked, in the order in which they are given
//   writing: UPDATE jobs SET ... FROM unnest(...) AS given WHERE jobs.id = ANY (ARRAY[given.id])     (@lookup)
//            `= ANY` of one value can be neither hashed nor merged, which leaves a lookup for each row; a condition on
//            the row alone would be another way to begin, so it stands in a CASE together with what is given
//            (@only_after); of a key of two columns the second is BETWEEN given.id AND given.id, since of two `= ANY`
//            the planner may use the index for the first only and go through all that have it
#pragma once

#include "adapters/sql/driver/tx_task.h"

namespace sluice::sql {

class GivenRows {
 public:
  template <class... Values>
  void add(Values&&... values) {
    rows_.emplace_back(std::forward<Values>(values)...);
  }
  bool empty() const { return rows_.empty(); }
  size_t size() const { return rows_.size(); }

  // One row's values, for SQLite.
  const Params& row(size_t i) const { return rows_.at(i); }
  // An array for each column, for PostgreSQL.
  Params columns() const;

 private:
  Array array_of(size_t column) const;

  std::vector<Params> rows_;
};

// Runs the statement for all rows; `more` are the parameters after the columns. All rows that came back, in no order,
// and how many were touched in all. Without rows it runs nothing.
TxTask<Rows> execute_many(Tx& tx, Statement statement, GivenRows given, Params more = {});

// The number of the given row, where a statement has it as a column `place` and returns it first.
inline size_t place_in(const Row& row) {
  return static_cast<size_t>(row.integer(0));
}

}  // namespace sluice::sql
