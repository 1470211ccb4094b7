// The one process that has the embedded store is killed and started again, while it does jobs.
//
// Promised: every job ends succeeded; none runs twice at the same time; every attempt is either the one that succeeded
// or one that was cut off, and ran at most once; at no instant more than k of one throttle key run.
#include <gtest/gtest.h>

#include "adapters/sql/jobs/sql_job_store.h"
#include "adapters/sqlite/sqlite_database.h"
#include "runtime/system_clock.h"
#include "tests/chaos/job_history.h"
#include "tests/chaos/job_kind_in_chaos.h"
#include "tests/contract/task_fixture.h"
#include "tests/support/process.h"
#include "tests/support/run_length.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

const std::string kind = "chaos";

// The file belongs to one process at a time: the test looks at it only between two workers.
class EmbeddedJobWorker : public TaskFixture {
 protected:
  void add_jobs(size_t count) {
    sqlite::SqliteDatabase database({.folder = data_}, clock_);
    sql::SqlJobStore store(database, kinds_, clock_, random_);
    for (; count > 0; count -= std::min<size_t>(count, 1'000)) {
      std::vector<jobs::NewJob> some(std::min<size_t>(count, 1'000), {.kind = kind, .payload = "{}"});
      for (size_t i = 0; i < some.size(); ++i) some[i].throttle_key = fmt::format("domain-{}", i % 100);
      run(store.enqueue(std::move(some)));
    }
  }

  // A worker that is killed when its history has so many bytes, about 200 for each job; or after a while, where no more
  // jobs are free: those of the worker before it are not, for as long as its locks last.
  void work_until_killed(uintmax_t bytes) {
    const std::filesystem::path history = folder_ / fmt::format("history-{}", ++started_);
    Process worker({.arguments = {binary("job_worker"), data_, "", kind, history}});
    worker.wait_for_line("working");
    const Instant latest = clock_.now() + 1200ms;
    while (file_size(history) < bytes && clock_.now() < latest) run(clock_.sleep_for(1ms));
    worker.kill();
    history_.add(history, std::chrono::floor<Duration>(clock_.now().time_since_epoch()));
  }

  struct Counts {
    int64_t live = 0;
    int64_t succeeded = 0;
    int64_t attempts = 0;
    int64_t lost = 0;
  };
  Counts counts() {
    sqlite::SqliteDatabase database({.folder = data_}, clock_);
    const auto number = [&](sql::Statement statement) { return run(database.read(statement)).one().integer(0); };
    return {.live = number("SELECT count(*) FROM jobs"),
            .succeeded = number("SELECT count(*) FROM finished_jobs WHERE status = 'succeeded'"),
            .attempts = number("SELECT coalesce(sum(attempts), 0) FROM finished_jobs"),
            .lost = number("SELECT count(*) FROM job_attempts WHERE outcome = 'lost'")};
  }

  std::map<std::string, int64_t> attempts_of_jobs() {
    sqlite::SqliteDatabase database({.folder = data_}, clock_);
    std::map<std::string, int64_t> attempts;
    for (const sql::Row& row : run(database.read("SELECT id, attempts FROM finished_jobs"))) {
      attempts.emplace(row.id<jobs::JobTag>(0).text(), row.integer(1));
    }
    return attempts;
  }

  SystemClock clock_;
  SeededRandom random_{1};
  TemporaryFolder folder_;
  const std::filesystem::path data_ = folder_ / "data";
  const jobs::JobKinds kinds_ = kinds_in_chaos(kind);
  JobHistory history_;
  int started_ = 0;
};

TEST_F(EmbeddedJobWorker, killed_at_random_loses_nothing_does_nothing_twice_at_once_and_never_exceeds_a_key) {
  const uint64_t chosen = seed();
  SCOPED_TRACE(fmt::format("SLUICE_SEED={}", chosen));
  SeededRandom random(chosen);
  const int64_t jobs = in_full() ? 100'000 : 3'000;
  add_jobs(static_cast<size_t>(jobs));
  const Instant end = clock_.now() + (in_full() ? 20min : 5min);
  const uint64_t most_bytes = in_full() ? 800'000 : 80'000;
  while (counts().live > 0 && clock_.now() < end) work_until_killed(random.below(most_bytes));

  const Counts ended = counts();
  EXPECT_EQ(ended.live, 0);
  EXPECT_EQ(ended.succeeded, jobs);
  EXPECT_EQ(ended.attempts, jobs + ended.lost);
  EXPECT_GT(ended.lost, 0);
  EXPECT_EQ(history_.ran_twice_at_once(), std::nullopt);
  EXPECT_EQ(history_.contradiction(attempts_of_jobs()), std::nullopt);
  EXPECT_LE(history_.most_of_a_key(), jobs_of_key_at_once);
}

}  // namespace
}  // namespace sluice::test
