// Shared by the parts of the database contract: two tables, and a fixture that creates them.
#pragma once

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

}  // namespace sluice::test
