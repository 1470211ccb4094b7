// Callers that never pause, and a history of what they saw.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "adapters/sql/database.h"
#include "base/check.h"
#include "runtime/clock.h"

namespace sluice::test {

// What callers saw. Safe from any thread.
class History {
 public:
  explicit History(const Clock& clock) : clock_(clock) {}

  // What to write next; no two callers get the same.
  int64_t next_id() { return ++last_id_; }
  void acknowledged(int64_t id) {
    const std::lock_guard lock(mutex_);
    acknowledged_.push_back({clock_.now(), id});
    changed_.notify_all();
  }
  void failed(Duration took) {
    const std::lock_guard lock(mutex_);
    failures_.push_back({clock_.now(), took});
    changed_.notify_all();
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
  struct Failures {
    size_t count = 0;
    Duration longest{0};  // that a caller waited for one of them
  };
  // After `begin` and not after `end`.
  Failures failures_between(Instant begin, Instant end) const {
    const std::lock_guard lock(mutex_);
    Failures found;
    for (const auto& [at, took] : failures_) {
      if (at <= begin || at > end) continue;
      ++found.count;
      found.longest = std::max(found.longest, took);
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
  std::atomic<int64_t> last_id_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<Instant, int64_t>> acknowledged_;
  std::vector<std::pair<Instant, Duration>> failures_;
};

inline constexpr sql::Statement insert_row{"INSERT INTO chaos_rows (id) VALUES ($1)"};

inline sql::TxTask<> insert_in_transaction(sql::Tx& tx, int64_t id) {
  sql::Params params(id);
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
      const int64_t id = history_.next_id();
      const Instant start = clock_.now();
      bool failed = false;
      try {
        if (in_transactions) {
          co_await database_.transact(insert_in_transaction, id);
        } else {
          sql::Params params(id);
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
  asio::io_context io_;
  std::thread thread_;
};

}  // namespace sluice::test
