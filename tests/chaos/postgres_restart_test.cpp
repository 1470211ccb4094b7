// PostgreSQL dies, freezes and comes back under load.
//
// Promised: calls fail only while it is away, soon and not for ever; when it is back everything goes on at full speed
// with no restart of ours; nothing that was acknowledged is missing.
#include <cstdlib>

#include <gtest/gtest.h>

#include "adapters/postgres/postgres_database.h"
#include "runtime/system_clock.h"
#include "tests/chaos/continuous_load.h"
#include "tests/contract/database_fixture.h"
#include "tests/support/needs.h"
#include "tests/support/postgres_server.h"

namespace sluice::test {
namespace {

// The acknowledgements whose time is the measure of speed.
constexpr size_t window = 2'000;
// Those that come first, until every caller is under way.
constexpr size_t warm_up = 200;
// Between attempts to connect lies a second at most, and one takes half a second at most; the rest is for a machine
// that is busy with other things.
constexpr Duration recovery = 3s;

Duration median(std::vector<Duration> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// How long a window took, round by round. All three in the same run and in alternation, so that a machine that is busy
// with other things slows them alike.
struct Times {
  std::vector<Duration> before;  // the server was taken down
  std::vector<Duration> after;   // it was back
  std::vector<Duration> fresh;   // with a database opened just now: what a restart of ours would have brought

  // The speed after, in parts of the higher of the two others.
  double speed() const {
    const Duration best = std::min(median(before), median(fresh));
    return static_cast<double>(best.count()) / static_cast<double>(median(after).count());
  }
};

class PostgresRestart : public TaskFixture {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(PostgresServer::why_missing(15));
    server_.emplace(PostgresOptions{.durable = true});
    database_ = open();
    run(database_->write("CREATE TABLE chaos_rows (id bigint PRIMARY KEY)"));
  }

  std::unique_ptr<sql::Database> open() {
    const postgres::PostgresConfig config{.url = server_->url(),
                                          .user = server_->user(),
                                          .password = server_->password(),
                                          .connect_timeout = 500ms,
                                          .statement_timeout = 1s,
                                          .silence_grace = 500ms};
    return std::make_unique<postgres::PostgresDatabase>(config, thread_, clock_);
  }

  // `begun`, `down` and `up` are when the load began, when the server was told to go and when it answered again.
  void expect_failures_only_while_down(Instant begun, Instant down, Instant up) {
    const Instant now = clock_.now();
    const Instant working = history_.first_acknowledged_after(up);
    EXPECT_EQ(history_.failures_between(begun, down).count, 0u) << "before it was down";
    EXPECT_EQ(history_.failures_between(working, now).count, 0u) << "after it worked again";
    EXPECT_LT(working - up, recovery);
    EXPECT_LT(history_.failures_between(down, working).longest, 2s) << "somebody waited for a server known to be down";
  }

  Duration time_with_a_fresh_database() {
    const std::unique_ptr<sql::Database> fresh = open();
    const Load load(*fresh, clock_, history_);
    history_.time_of_next(warm_up);
    return history_.time_of_next(window);
  }

  void expect_all_acknowledged_present() {
    const sql::Rows rows = run(database_->read("SELECT id FROM chaos_rows"));
    std::set<int64_t> present;
    for (const sql::Row& row : rows) present.insert(row.integer(0));
    for (const int64_t id : history_.all_acknowledged()) ASSERT_TRUE(present.contains(id)) << id;
  }

  SystemClock clock_;
  History history_{clock_};
  std::optional<PostgresServer> server_;
  postgres::EngineThread thread_;
  std::unique_ptr<sql::Database> database_;
};

// How the server goes away.
struct Departure {
  const char* name;
  void (PostgresServer::*leave)();
  int rounds;
};

class PostgresRestarted : public PostgresRestart, public testing::WithParamInterface<Departure> {
 protected:
  static int rounds() { return std::getenv("SLUICE_LONG") != nullptr ? 21 : GetParam().rounds; }

  // One load goes on from before the server is taken down until it has worked for a while again.
  void run_round(Times& times) {
    const Instant begun = clock_.now();
    std::optional<Load> load(std::in_place, *database_, clock_, history_);
    history_.time_of_next(warm_up);
    times.before.push_back(history_.time_of_next(window));
    const Instant down = clock_.now();
    ((*server_).*GetParam().leave)();
    history_.wait_for_failures(100);
    server_->start();
    const Instant up = clock_.now();
    history_.time_of_next(warm_up);
    times.after.push_back(history_.time_of_next(window));
    expect_failures_only_while_down(begun, down, up);
    load.reset();
    times.fresh.push_back(time_with_a_fresh_database());
  }
};

TEST_P(PostgresRestarted, errors_only_while_it_is_down_then_full_speed) {
  constexpr double full = 0.7;
  Times times;
  const auto done = [&](int rounds_run) {
    if (rounds_run < rounds()) return false;
    // A few more before the verdict: noise evens out, a driver that has become slower stays it.
    return times.speed() >= full || rounds_run >= 3 * rounds();
  };
  for (int round = 0; !done(round) && !HasFailure(); ++round) run_round(times);
  EXPECT_GE(times.speed(), full);
  expect_all_acknowledged_present();
}

constexpr Departure departures[] = {{"Killed", &PostgresServer::kill, 5}, {"StoppedInOrder", &PostgresServer::stop, 3}};
INSTANTIATE_TEST_SUITE_P(, PostgresRestarted, testing::ValuesIn(departures),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST_F(PostgresRestart, frozen_and_thawed_under_load) {
  std::optional<Load> load(std::in_place, *database_, clock_, history_);
  history_.time_of_next(window);
  const Instant frozen = clock_.now();
  EXPECT_EQ(history_.failures_between({}, frozen).count, 0u);
  server_->pause();
  history_.wait_for_failures(20);
  server_->resume();
  const Instant settled = clock_.now() + recovery;
  while (clock_.now() < settled) history_.time_of_next(10);
  history_.time_of_next(window);
  EXPECT_EQ(history_.failures_between(settled, clock_.now()).count, 0u);
  load.reset();
  expect_all_acknowledged_present();
}

}  // namespace
}  // namespace sluice::test
