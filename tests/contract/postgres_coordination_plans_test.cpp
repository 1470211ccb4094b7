// Plans of what instances share where there is no Redis (tests/contract/postgres_plans.h). The tables are the same in
// every service's schema; that of the document service has the breakers too, that of the snapshot service the days.
#include "adapters/sql/coordination/sql_day_budgets.h"
#include "adapters/sql/coordination/sql_leases.h"
#include "adapters/sql/coordination/sql_limit.h"
#include "adapters/sql/coordination/sql_shared_breaker.h"
#include "adapters/sql/coordination/sql_slots.h"
#include "adapters/sql/coordination/sql_version_floors.h"
#include "tests/contract/postgres_plans.h"

namespace sluice::test {
namespace {

class PostgresCoordinationPlans : public PostgresPlans {
 protected:
  void SetUp() override {
    PostgresPlans::SetUp();
    if (!server_) return;
    documents_ = login("document_service");
    snapshots_ = login("snapshot_service");
    leases_.emplace(*documents_);
    slots_.emplace(*documents_);
    breaker_.emplace(*documents_);
    const coordination::LimitPlan plan{.name = "limit",
                                       .window = {{.name = "second", .most = 100, .per = 1s}},
                                       .day = {{.name = "day", .most = 1'000'000}},
                                       .priority = {{.name = "HIGH", .windows = {"second"}, .days = {"day"}}}};
    limit_.emplace(*snapshots_, plan, clock_);
    days_.emplace(*snapshots_, plan);
    floors_.emplace(*snapshots_);
  }

  void fill_tables() override {
    for (const char* text : {
             "INSERT INTO fenced_leases (key, owner, fence, expires_at) "
             "SELECT 'filling ' || i, 'owner', 1, now() FROM generate_series(1, 30000) AS i",
             "INSERT INTO slots (key, number, owner, token, expires_at) "
             "SELECT CASE i % 1000 WHEN 0 THEN 'full' ELSE 'filling ' || i % 1000 END, i / 1000 + 1000, 'owner', 1, "
             "now() + interval '1 day' "
             "FROM generate_series(1, 30000) AS i",
             "INSERT INTO breakers (key) SELECT 'filling ' || i FROM generate_series(1, 30000) AS i",
         }) {
      execute(*documents_, text);
    }
    for (const char* text : {
             "INSERT INTO limits (name, state) SELECT 'filling ' || i, '' FROM generate_series(1, 30000) AS i",
             "INSERT INTO day_budgets (limit_name, day_name, day, spent) "
             "SELECT 'filling ' || i, 'day', 1, 1 FROM generate_series(1, 30000) AS i",
             "INSERT INTO version_floors (run, number, floor, began) "
             "SELECT 'filling ' || i, i + 1000, i, i FROM generate_series(1, 1000) AS i",
         }) {
      execute(*snapshots_, text);
    }
  }

  void use_stores(size_t rows_at_once) override {
    use_leases(rows_at_once / 10 + 1);
    use_slots(static_cast<int64_t>(rows_at_once));
    const std::string key = unique("breaker");
    const auto permit = run(breaker_->ask(key, 1s));
    run(breaker_->record(key, *permit, true));
    run(breaker_->forget(key, *permit));
    run(breaker_->state(key));
    run(limit_->deposit(0, 10, 1min));
    run(limit_->draw(0, 1, 1));
    run(limit_->remaining());
    std::ignore = run(days_->take(0, 1, 10));
    run(days_->left());
    run(floors_->floor_of(unique("run")));
  }

  void use_leases(size_t count) {
    std::vector<coordination::Lease> held;
    for (size_t i = 0; i < count; ++i) {
      const std::string key = unique("lease");
      held.push_back({key, run(leases_->acquire(key, "owner", 1min)).value()});
    }
    EXPECT_EQ(run(leases_->renew(held, 1min)).renewed.size(), count);
    run(leases_->holder(held.front().key));
    run(leases_->release(held.front()));
    run(leases_->force_release(held.back().key, "test"));
  }

  void use_slots(int64_t n) {
    const std::string key = unique("slots");
    const coordination::Slot slot = run(slots_->take(key, n, "owner", 1min)).value();
    run(slots_->take("full", 29, "owner", 1min));
    run(slots_->renew(slot, 1min));
    EXPECT_EQ(run(slots_->in_use(key)), 1);
    run(slots_->give_back(slot));
  }

  std::unique_ptr<postgres::PostgresDatabase> documents_;
  std::unique_ptr<postgres::PostgresDatabase> snapshots_;
  std::optional<sql::SqlLeases> leases_;
  std::optional<sql::SqlSlots> slots_;
  std::optional<sql::SqlSharedBreaker> breaker_;
  std::optional<sql::SqlLimit> limit_;
  std::optional<sql::SqlDayBudgets> days_;
  std::optional<sql::SqlVersionFloors> floors_;
};

TEST_F(PostgresCoordinationPlans, no_statement_of_shared_state_reads_a_whole_table_that_grows) {
  expect_only_lookups(20);
}

}  // namespace
}  // namespace sluice::test
