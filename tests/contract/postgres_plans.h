// Looks at the plan of every statement that a store runs on PostgreSQL.
//
// No statement may read a whole table that grows, whatever PostgreSQL knows about the table. The server logs each plan,
// those inside of triggers too (auto_explain); a test uses its stores as their callers do, and looks at the log. Three
// times: on tables as migrations leave them, on tables that were filled and never analyzed, and on the same tables
// analyzed. Plans that were made for the empty tables are still in use on the filled ones.
#pragma once

#include <map>
#include <set>

#include "runtime/system_clock.h"
#include "tests/contract/postgres_engines.h"

namespace sluice::test {

struct LoggedPlan {
  std::string text{};         // with the statement
  std::string statement{};    // its beginning
  bool of_many_rows = false;  // the statement takes arrays
};

// Pages that the whole statement has looked at.
size_t pages_of(const LoggedPlan& plan);

class PostgresPlans : public TaskFixture {
 protected:
  // Each table is filled with so many rows.
  static constexpr int filling = 30'000;

  void SetUp() override;

  // As the administrator.
  void execute(const std::string& text) { execute(*admin_, text); }
  // The text must outlive the call: a Statement only refers to it.
  void execute(sql::Database& database, const std::string& text) {
    run(database.write(sql::Statement(std::string_view(text))));
  }
  // A new pool, logged in as that service.
  std::unique_ptr<postgres::PostgresDatabase> login(std::string_view service);

  // All that the stores of the test do, with so many rows at a time.
  virtual void use_stores(size_t rows_at_once) = 0;
  // With ids that look old.
  virtual void fill_tables() = 0;
  // The beginnings of statements that read a whole table by design.
  virtual std::set<std::string> exempt_statements() const { return {}; }

  // On empty, filled and analyzed tables. At least so many different statements must have run, those of triggers and
  // constraints among them: a test that stops to reach a statement is noticed.
  void expect_only_lookups(size_t least_statements);

  // Of all statements that have run since the last call.
  std::vector<LoggedPlan> take_plans();

  SystemClock clock_;
  SeededRandom random_{1};
  postgres::EngineThread thread_;
  std::optional<PostgresServer> server_;
  std::optional<postgres::PostgresDatabase> admin_;

 private:
  void use_and_look(const std::string& tables);

  std::set<std::string> statements_;  // that have run
};

}  // namespace sluice::test
