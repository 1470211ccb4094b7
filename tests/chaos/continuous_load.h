// Callers that never pause, and a history of their results.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "adapters/sql/driver/database.h"
#include "base/check.h"
#include "runtime/clock.h"

namespace sluice::test {

// How many callers a Load has: 12 that write and 4 that run transactions.
inline constexpr size_t load_callers = 16;

// The results of callers of one Load after the other. Safe from any thread.
class History {
 public:
  // Callers write the numbers from `first_id` on.
  explicit History(const Clock& clock, int64_t first_id = 1) : clock_(clock), next_id_(first_id) {}

  // The next number to write; no two callers get the same.
  int64_t next_id() { return next_id_++; }
  void acknowledged(int64_t id) {
    const std::lock_guard lock(mutex_);
    acknowledged_.push_back({clock_.now(), id});
    changed_.notify_all();
  }
  void failed(size_t caller, Instant begun) {
    const std::lock_guard lock(mutex_);
    failures_.push_back({.begun = begun, .at = clock_.now(), .caller = caller});
    changed_.notify_all();
  }

  // The waits fail the test after two minutes.
  void wait_for_acknowledged(size_t more) {
    std::unique_lock lock(mutex_);
    const size_t target = acknowledged_.size() + more;
    wait(lock, [&] { return acknowledged_.size() >= target; });
  }
  void wait_for_failures(size_t more) {
    std::unique_lock lock(mutex_);
    const size_t target = failures_.size() + more;
    wait(lock, [&] { return failures_.size() >= target; });
  }
  // Until every caller has failed as often as that from now on.
  void wait_until_all_failed(size_t times) {
    std::unique_lock lock(mutex_);
    const size_t begin = failures_.size();
    wait(lock, [&] {
      std::array<size_t, load_callers> seen{};
      for (size_t i = begin; i < failures_.size(); ++i) ++seen[failures_[i].caller];
      return std::ranges::min(seen) >= times;
    });
  }

  size_t count_acknowledged() const {
    const std::lock_guard lock(mutex_);
    return acknowledged_.size();
  }
  std::set<int64_t> all_acknowledged() const {
    const std::lock_guard lock(mutex_);
    std::set<int64_t> ids;
    for (const auto& [at, id] : acknowledged_) ids.insert(id);
    return ids;
  }
  // When a call first succeeded after `begin`. One must have.
  Instant first_acknowledged_after(Instant begin) const {
    const std::lock_guard lock(mutex_);
    const auto first = std::ranges::find_if(acknowledged_, [&](const auto& each) { return each.first > begin; });
    check(first != acknowledged_.end(), "nothing was acknowledged");
    return first->first;
  }
  // After `begin` and not after `end`.
  size_t failures_between(Instant begin, Instant end) const {
    const std::lock_guard lock(mutex_);
    const auto between = [&](const Failure& each) { return each.at > begin && each.at <= end; };
    return static_cast<size_t>(std::ranges::count_if(failures_, between));
  }
  // Of calls that began after `begin`.
  size_t failures_of_calls_after(Instant begin) const {
    const std::lock_guard lock(mutex_);
    return static_cast<size_t>(
        std::ranges::count_if(failures_, [&](const Failure& each) { return each.begun > begin; }));
  }

 private:
  struct Failure {
    Instant begun;  // when the call was made
    Instant at;     // when it failed
    size_t caller;
  };

  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, Condition holds) {
    EXPECT_TRUE(changed_.wait_for(lock, 2min, holds)) << "it did not happen within two minutes";
  }

  const Clock& clock_;
  std::atomic<int64_t> next_id_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<Instant, int64_t>> acknowledged_;
  std::vector<Failure> failures_;
};

inline constexpr sql::Statement insert_row{"INSERT INTO chaos_rows (id) VALUES ($1)"};

inline sql::TxTask<> insert_in_transaction(sql::Tx& tx, int64_t id) {
  sql::Params params(id);
  co_await tx.execute(insert_row, std::move(params));
}

// Callers without pause, on a thread of their own.
class Load {
 public:
  // A database, and the history of its callers.
  struct Used {
    sql::Database& database;
    History& history;
  };

  // Each database has as many callers as if it were alone.
  Load(Clock& clock, std::vector<Used> databases) : clock_(clock) {
    for (const Used& used : databases) {
      for (size_t i = 0; i < load_callers; ++i) asio::co_spawn(io_, keep_writing(used, i), die_of_errors);
    }
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

  Task<> keep_writing(Used used, size_t caller) {
    const bool in_transactions = caller < 4;
    while (!stopping_) {
      const int64_t id = used.history.next_id();
      const Instant begun = clock_.now();
      bool failed = false;
      try {
        if (in_transactions) {
          co_await used.database.transact(insert_in_transaction, id);
        } else {
          sql::Params params(id);
          co_await used.database.write(insert_row, std::move(params));
        }
        used.history.acknowledged(id);
      } catch (const EngineUnavailable&) {
        used.history.failed(caller, begun);
        failed = true;
      }
      if (failed) co_await clock_.sleep_for(10ms);
    }
  }

  Clock& clock_;
  std::atomic<bool> stopping_ = false;
  asio::io_context io_;
  std::thread thread_;
};

}  // namespace sluice::test
