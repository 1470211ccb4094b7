// A database whose user is killed: from a certain transaction on it does nothing any more.
#pragma once

#include "adapters/sql/driver/database.h"

namespace sluice::test {

class DyingDatabase : public sql::Database {
 public:
  // `database` must outlive it.
  DyingDatabase(sql::Database& database, int transactions) : database_(database), left_(transactions) {}

  sql::Dialect dialect() const override { return database_.dialect(); }
  Task<sql::Rows> read(sql::Statement statement, sql::Params params = {}) override {
    return database_.read(statement, std::move(params));
  }
  Task<sql::Rows> write(sql::Statement statement, sql::Params params = {}) override {
    return database_.write(statement, std::move(params));
  }

 protected:
  Task<> run(const Body& body) override {
    if (left_-- <= 0) throw EngineUnavailable("database", "its user is dead");
    co_await database_.transact(pass_on, &body);
  }

 private:
  static sql::TxTask<> pass_on(sql::Tx& tx, const Body* body) { co_await (*body)(tx); }

  sql::Database& database_;
  int left_;
};

}  // namespace sluice::test
