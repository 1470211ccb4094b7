// Contract of sql::migrate, tested on a real engine.
#include "tests/contract/migrations_suite.h"

namespace sluice::test {

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
