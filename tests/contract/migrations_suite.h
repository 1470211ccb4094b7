// The fixture of migrations_contract.cpp, for the engines that run it.
#pragma once

#include "adapters/sql/driver/migrations.h"
#include "tests/contract/database_fixture.h"

namespace sluice::test {

namespace contract {

inline const sql::Migration first{1, "first", "-- why\nCREATE TABLE contract_first (a text);\n"};
inline const sql::Migration second{2, "second",
                                   "INSERT INTO contract_first VALUES ('a;b');\n\n"
                                   "INSERT INTO contract_first VALUES ('c');\n\n-- the end\n"};
inline const sql::Migration broken{2, "broken",
                                   "INSERT INTO contract_first VALUES ('lost');\n\nINSERT INTO nowhere VALUES (1);\n"};

inline Task<> drop_migrated(sql::Database& database) {
  for (const sql::Statement statement :
       {"DROP TABLE IF EXISTS contract_first", "DROP TABLE IF EXISTS schema_migrations"}) {
    co_await database.write(statement);
  }
}

}  // namespace contract

class MigrationsContract : public DatabaseFixture {
 protected:
  void SetUp() override {
    DatabaseFixture::SetUp();
    run(contract::drop_migrated(database()));
  }

  std::vector<int> migrate(std::vector<sql::Migration> migrations) {
    return run(sql::migrate(database(), {GetParam().schema, std::move(migrations)}));
  }
  std::string why_refused(std::vector<sql::Migration> migrations) {
    try {
      migrate(std::move(migrations));
    } catch (const sql::MigrationError& error) {
      return error.what();
    }
    return "not refused";
  }
  int64_t rows() { return run(database().read("SELECT count(*) FROM contract_first")).one().integer(0); }
};

}  // namespace sluice::test
