// PostgreSQL dies, freezes and comes back under load.
//
// Promised: calls fail only while it is away, soon and not for ever; when it is back everything goes on at full speed
// with no restart of ours; nothing that was acknowledged is missing.
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <gtest/gtest.h>

#include "adapters/postgres/postgres_database.h"
#include "runtime/system_clock.h"
#include "tests/contract/database_fixture.h"
#include "tests/support/needs.h"
#include "tests/support/postgres_server.h"

namespace sluice::test {
namespace {

using sql::Params;
using sql::Rows;
using sql::Tx;
using sql::TxTask;

// What callers saw. Safe from any thread.
class History {
 public:
  explicit History(const Clock& clock) : clock_(clock) {}

  void acknowledged(int64_t id) {
    const std::lock_guard lock(mutex_);
    acknowledged_.push_back(id);
    changed_.notify_all();
  }
  void failed(Duration took) {
    const std::lock_guard lock(mutex_);
    failures_.push_back({clock_.now(), took});
    changed_.notify_all();
  }

  size_t acknowledgements() const {
    const std::lock_guard lock(mutex_);
    return acknowledged_.size();
  }
  // How long the next `count` acknowledgements take; fails the test after a minute.
  Duration time_of_next(size_t count) {
    return wait([&] { return acknowledged_.size(); }, count);
  }
  void wait_for_failures(size_t count) {
    wait([&] { return failures_.size(); }, count);
  }

  std::set<int64_t> all_acknowledged() const {
    const std::lock_guard lock(mutex_);
    return {acknowledged_.begin(), acknowledged_.end()};
  }
  // Failures after `begin` and not after `end`, and the longest that one of them took.
  std::pair<size_t, Duration> failures_between(Instant begin, Instant end) const {
    const std::lock_guard lock(mutex_);
    std::pair<size_t, Duration> found{0, 0s};
    for (const auto& [at, took] : failures_) {
      if (at <= begin || at > end) continue;
      ++found.first;
      found.second = std::max(found.second, took);
    }
    return found;
  }

 private:
  template <class Count>
  Duration wait(Count current, size_t more) {
    std::unique_lock lock(mutex_);
    const Instant start = clock_.now();
    const size_t target = current() + more;
    EXPECT_TRUE(changed_.wait_for(lock, 60s, [&] { return current() >= target; }));
    return std::chrono::ceil<Duration>(clock_.now() - start);
  }

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int64_t> acknowledged_;
  std::vector<std::pair<Instant, Duration>> failures_;
};

constexpr sql::Statement insert_row{"INSERT INTO chaos_rows (id) VALUES ($1)"};

TxTask<> insert_in_transaction(Tx& tx, int64_t id) {
  Params params(id);
  co_await tx.execute(insert_row, std::move(params));
}

// 12 callers that write and 4 that run transactions, without pause, on a thread of their own.
class Load {
 public:
  Load(sql::Database& database, Clock& clock, History& history)
      : database_(database), clock_(clock), history_(history) {
    for (int i = 0; i < 16; ++i) asio::co_spawn(io_, keep_writing(i < 4), die_of_errors);
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Load() {
    stopping_ = true;
    thread_.join();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  static void die_of_errors(const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  }

  Task<> keep_writing(bool in_transactions) {
    while (!stopping_) {
      const int64_t id = ++last_id_;
      const Instant start = clock_.now();
      bool failed = false;
      try {
        if (in_transactions) {
          co_await database_.transact(insert_in_transaction, id);
        } else {
          Params params(id);
          co_await database_.write(insert_row, std::move(params));
        }
        history_.acknowledged(id);
      } catch (const EngineUnavailable&) {
        history_.failed(std::chrono::ceil<Duration>(clock_.now() - start));
        failed = true;
      }
      if (failed) co_await clock_.sleep_for(10ms);
    }
  }

  sql::Database& database_;
  Clock& clock_;
  History& history_;
  std::atomic<bool> stopping_ = false;
  int64_t last_id_ = 0;
  asio::io_context io_;
  std::thread thread_;
};

class PostgresRestart : public TaskFixture {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(PostgresServer::why_missing(15));
    server_.emplace(PostgresOptions{.durable = true});
    database_.emplace(postgres::PostgresConfig{.url = server_->url(),
                                               .user = server_->user(),
                                               .password = server_->password(),
                                               .connect_timeout = 500ms,
                                               .statement_timeout = 1s,
                                               .silence_grace = 500ms},
                      thread_, clock_);
    run(database_->write("CREATE TABLE chaos_rows (id bigint PRIMARY KEY)"));
  }

  void expect_all_acknowledged_present() {
    const Rows rows = run(database_->read("SELECT id FROM chaos_rows"));
    std::set<int64_t> present;
    for (const sql::Row& row : rows) present.insert(row.integer(0));
    for (const int64_t id : history_.all_acknowledged()) ASSERT_TRUE(present.contains(id)) << id;
  }

  static int rounds() { return std::getenv("SLUICE_LONG") != nullptr ? 20 : 2; }

  SystemClock clock_;
  History history_{clock_};
  std::optional<PostgresServer> server_;
  postgres::EngineThread thread_;
  std::optional<postgres::PostgresDatabase> database_;
};

constexpr size_t batch = 500;
// From the server's first word to our last failure: the reconnect delay and the calls refused meanwhile.
constexpr Duration recovery = 3s;

TEST_F(PostgresRestart, killed_and_started_again_under_load) {
  std::optional<Load> load(std::in_place, *database_, clock_, history_);
  history_.time_of_next(batch);
  for (int round = 0; round < rounds(); ++round) {
    const Duration before = history_.time_of_next(batch);
    const Instant killed = clock_.now();
    EXPECT_EQ(history_.failures_between(killed - 1s, killed).first, 0u);
    server_->kill();
    history_.wait_for_failures(100);
    server_->start();
    const Instant back = clock_.now();
    history_.time_of_next(batch);
    const auto [failures, longest] = history_.failures_between(killed, clock_.now());
    EXPECT_GT(failures, 0u);
    EXPECT_LT(longest, 2s) << "a call waited for a server that was known to be down";
    const Instant settled = std::max(clock_.now(), back + recovery);
    while (clock_.now() < settled) history_.time_of_next(10);
    const Duration after = history_.time_of_next(batch);
    EXPECT_EQ(history_.failures_between(back + recovery, clock_.now()).first, 0u);
    EXPECT_LT(after, 4 * before + 1s) << "not at full speed again";
  }
  load.reset();
  expect_all_acknowledged_present();
}

TEST_F(PostgresRestart, frozen_and_thawed_under_load) {
  std::optional<Load> load(std::in_place, *database_, clock_, history_);
  history_.time_of_next(batch);
  server_->pause();
  history_.wait_for_failures(20);
  server_->resume();
  const Instant back = clock_.now();
  history_.time_of_next(batch);
  const Instant settled = back + recovery;
  while (clock_.now() < settled) history_.time_of_next(10);
  history_.time_of_next(batch);
  EXPECT_EQ(history_.failures_between(settled, clock_.now()).first, 0u);
  load.reset();
  expect_all_acknowledged_present();
}

TEST_F(PostgresRestart, stopped_in_order_and_started_again_under_load) {
  std::optional<Load> load(std::in_place, *database_, clock_, history_);
  history_.time_of_next(batch);
  server_->stop();
  history_.wait_for_failures(100);
  server_->start();
  history_.time_of_next(batch);
  load.reset();
  expect_all_acknowledged_present();
}

}  // namespace
}  // namespace sluice::test
