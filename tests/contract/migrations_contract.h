// What sql::migrate promises, tried on a real engine.
#pragma once

#include "adapters/sql/migrations.h"
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

TEST_P(MigrationsContract, what_is_missing_is_applied_once) {
  EXPECT_EQ(migrate({contract::first}), std::vector{1});
  EXPECT_EQ(migrate({contract::first, contract::second}), std::vector{2});
  EXPECT_EQ(migrate({contract::first, contract::second}), std::vector<int>{});
  EXPECT_EQ(rows(), 2);
}

TEST_P(MigrationsContract, a_changed_migration_is_refused) {
  migrate({contract::first});
  sql::Migration changed = contract::first;
  changed.text = "CREATE TABLE contract_first (a text, b text);\n";
  EXPECT_EQ(why_refused({changed, contract::second}),
            "migration 1 (first) was changed after it was applied; restore its text and add a new migration instead");
}

TEST_P(MigrationsContract, one_missing_in_between_is_refused) {
  migrate({contract::first, contract::second});
  run(database().write("DELETE FROM schema_migrations WHERE number = 1"));
  EXPECT_EQ(why_refused({contract::first, contract::second}),

            "migration 1 (first) was not applied although 2 (second) was; give it a number above those of all "
            "applied migrations");
}

TEST_P(MigrationsContract, an_older_program_is_refused) {
  migrate({contract::first, contract::second});
  EXPECT_EQ(
      why_refused({contract::first}),
      "the database has migration 2 (second), which this version does not know; use the version that applied it or "
      "a later one");
}

TEST_P(MigrationsContract, a_failing_migration_leaves_no_trace) {
  EXPECT_THROW(migrate({contract::first, contract::broken}), sql::StatementError);
  EXPECT_EQ(rows(), 0);
  EXPECT_EQ(migrate({contract::first, contract::second}), std::vector{2});
}

TEST_P(MigrationsContract, several_at_once_apply_each_once) {
  std::vector<Task<std::vector<int>>> starts;
  for (int i = 0; i < 4; ++i) {
    starts.push_back(sql::migrate(database(), {GetParam().schema, {contract::first, contract::second}}));
  }
  size_t applied = 0;
  for (const auto& outcome : run_all(std::move(starts))) {
    if (outcome.error) std::rethrow_exception(outcome.error);
    applied += outcome.value->size();
  }
  EXPECT_EQ(applied, 2u);
  EXPECT_EQ(rows(), 2);
}

}  // namespace sluice::test
