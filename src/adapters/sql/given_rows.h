// Many rows of values for one statement.
//
// PostgreSQL takes them all at once, an array for each column; SQLite, where a further statement costs no round trip,
// one by one. A statement names the same columns in both, and PostgreSQL's says what they are arrays of (bigint for any
// integer, text[]::json[] for JSON):
//
//   .postgres = "... FROM unnest($1::uuid[], $2::bigint[]) AS given (id, token) JOIN ..."
//   .sqlite   = "... FROM (SELECT $1 AS id, $2 AS token) AS given JOIN ..."
#pragma once

#include "adapters/sql/tx_task.h"

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

}  // namespace sluice::sql
