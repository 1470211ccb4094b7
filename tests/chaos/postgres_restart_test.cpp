// PostgreSQL dies, freezes and comes back under load.
//
// Promised: calls fail only while it is away, soon and not for ever; when it is back everything goes on at full speed
// with no restart of ours; nothing that was acknowledged is missing.
#include <gtest/gtest.h>

#include "adapters/postgres/postgres_database.h"
#include "runtime/system_clock.h"
#include "tests/chaos/continuous_load.h"
#include "tests/chaos/stoppable_clock.h"
#include "tests/contract/database_fixture.h"
#include "tests/support/needs.h"
#include "tests/support/postgres_server.h"
#include "tests/support/run_length.h"

namespace sluice::test {
namespace {

// The acknowledgements by which speed is measured.
constexpr size_t window = 2'000;
// Those that come first, until every caller is under way.
constexpr size_t warm_up = 200;
// Between attempts to connect lies a second at most; the rest is for a machine that is busy with other things.
constexpr Duration recovery = 30s;

class PostgresRestart : public TaskFixture {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(PostgresServer::why_missing(15));
    server_.emplace(PostgresOptions{.durable = true});
  }

  std::unique_ptr<sql::Database> open(postgres::PostgresConfig config = {}) {
    config.url = server_->url();
    config.user = server_->user();
    config.password = server_->password();
    return std::make_unique<postgres::PostgresDatabase>(config, thread_, drivers_clock_);
  }
  void open_with_table(postgres::PostgresConfig config = {}) {
    database_ = open(std::move(config));
    run(database_->write("CREATE TABLE chaos_rows (id bigint PRIMARY KEY)"));
  }

  void expect_all_acknowledged_present() {
    const sql::Rows rows = run(database_->read("SELECT id FROM chaos_rows"));
    std::set<int64_t> present;
    for (const sql::Row& row : rows) present.insert(row.integer(0));
    for (const int64_t id : history_.all_acknowledged()) ASSERT_TRUE(present.contains(id)) << id;
  }

  SystemClock clock_;
  StoppableClock drivers_clock_;
  History history_{clock_};
  std::optional<PostgresServer> server_;
  postgres::EngineThread thread_;
  std::unique_ptr<sql::Database> database_;
};

// How the server goes away.
struct Departure {
  const char* name;
  void (PostgresServer::*leave)();
};

class PostgresRestarted : public PostgresRestart, public testing::WithParamInterface<Departure> {
 protected:
  void SetUp() override {
    PostgresRestart::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) open_with_table();
  }

  static int rounds() { return in_full() ? 21 : 3; }

  // One load goes on from before the server is taken down until it has worked for a while again.
  void take_down_and_up() {
    const Instant begun = clock_.now();
    const Load load(clock_, {{*database_, history_}});
    history_.wait_for_acknowledged(warm_up);
    const Instant down = clock_.now();
    leave_and_tell_everybody();
    server_->start();
    const Instant up = clock_.now();
    history_.wait_for_acknowledged(warm_up);
    const Instant working = history_.first_acknowledged_after(up);
    EXPECT_EQ(history_.failures_between(begun, down), 0U) << "before it was down";
    EXPECT_EQ(history_.failures_between(working, clock_.now()), 0U) << "after it worked again";
    EXPECT_LT(working - up, recovery);
  }

  // A stopping server closes its connections, so callers learn of it without any delay. More than once: the first time
  // they lose their running calls.
  void leave_and_tell_everybody() {
    drivers_clock_.stop();
    ((*server_).*GetParam().leave)();
    history_.wait_until_all_failed(3);
    EXPECT_FALSE(HasFailure()) << "somebody waits for a server that is down";
    drivers_clock_.go_on();
  }

  // Relative to a database that was opened just now, as after a restart, at the same time on the same server: a busy
  // machine slows both alike.
  double speed(int round) {
    const std::unique_ptr<sql::Database> fresh = open();
    History others(clock_, 1'000'000'000LL * (round + 1));
    const Load load(clock_, {{*database_, history_}, {*fresh, others}});
    history_.wait_for_acknowledged(warm_up);
    others.wait_for_acknowledged(warm_up);
    const size_t before = history_.count_acknowledged();
    others.wait_for_acknowledged(window);
    return static_cast<double>(history_.count_acknowledged() - before) / static_cast<double>(window);
  }
};

TEST_P(PostgresRestarted, errors_only_while_it_is_down_then_full_speed) {
  std::vector<double> speeds;
  for (int round = 0; round < rounds() && !HasFailure(); ++round) {
    take_down_and_up();
    speeds.push_back(speed(round));
  }
  std::ranges::sort(speeds);
  EXPECT_GE(speeds[speeds.size() / 2], 0.7);
  expect_all_acknowledged_present();
}

constexpr Departure departures[] = {{"Killed", &PostgresServer::kill}, {"StoppedInOrder", &PostgresServer::stop}};
INSTANTIATE_TEST_SUITE_P(, PostgresRestarted, testing::ValuesIn(departures),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST_F(PostgresRestart, frozen_and_thawed_under_load) {
  // So long that only the freeze outlasts them.
  const postgres::PostgresConfig config{.connect_timeout = 5s, .statement_timeout = 5s, .silence_grace = 1s};
  open_with_table(config);
  std::optional<Load> load(std::in_place, clock_, std::vector<Load::Used>{{*database_, history_}});
  history_.wait_for_acknowledged(window);
  EXPECT_EQ(history_.failures_between({}, clock_.now()), 0U);
  server_->pause();
  history_.wait_for_failures(20);
  server_->resume();
  // Attempts to connect that began before may still fail.
  const Instant settled = clock_.now() + config.connect_timeout + 1s;
  while (clock_.now() < settled) history_.wait_for_acknowledged(10);
  history_.wait_for_acknowledged(window);
  EXPECT_EQ(history_.failures_of_calls_after(settled), 0U);
  load.reset();
  expect_all_acknowledged_present();
}

}  // namespace
}  // namespace sluice::test
