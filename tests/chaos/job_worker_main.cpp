// Runs jobs as a server does, with jobs::Workers, until it is killed. Ended by job_workers_test and
// embedded_job_worker_test.
//
//   job_worker URL|FOLDER PASSWORD KIND HISTORY      FOLDER: of an embedded store
//
// What its handler does is appended to the file HISTORY, a line each, before anybody else can know of it:
//
//   start MICROSECONDS JOB KEY ATTEMPT
//   end MICROSECONDS JOB KEY ATTEMPT
#include <cstdio>
#include <string>

#include <boost/asio/io_context.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "adapters/postgres/postgres_database.h"
#include "adapters/sql/jobs/sql_job_store.h"
#include "adapters/sqlite/sqlite_database.h"
#include "base/check.h"
#include "jobs/job_upkeep.h"
#include "jobs/workers.h"
#include "runtime/system_clock.h"
#include "tests/chaos/job_kind_in_chaos.h"

namespace sluice::test {
namespace {

constexpr Duration work = 5ms;

class Diary {
 public:
  Diary(const char* file, const Clock& clock)
      : descriptor_(open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)), clock_(clock) {
    check(descriptor_ >= 0, "cannot open the history");
  }
  // One write each: a killed process leaves whole lines.
  void note(std::string_view what, const jobs::JobRun& job) const {
    const auto now = std::chrono::floor<Duration>(clock_.now().time_since_epoch()).count();
    const std::string line =
        fmt::format("{} {} {} {} {}\n", what, now, job.id.text(), job.throttle_key.value_or("-"), job.attempt);
    check(write(descriptor_, line.data(), line.size()) == static_cast<ssize_t>(line.size()), "writing history");
  }

 private:
  int descriptor_;
  const Clock& clock_;
};

// Also where it is cancelled, because its lock was lost.
struct NoteEnd {
  const Diary& diary;
  const jobs::JobRun& job;
  ~NoteEnd() { diary.note("end", job); }
};

Task<jobs::JobOutcome> pretend_to_work(const Diary& diary, Clock& clock, jobs::JobRun job) {
  diary.note("start", job);
  const NoteEnd at_the_end{diary, job};
  co_await clock.sleep_for(work);
  co_return jobs::JobOutcome::done();
}

std::unique_ptr<sql::Database> open_database(const std::string& place, const std::string& password,
                                             postgres::EngineThread& thread, Clock& clock) {
  if (!place.starts_with("postgresql:")) {
    return std::make_unique<sqlite::SqliteDatabase>(sqlite::SqliteOptions{.folder = place}, clock);
  }
  const postgres::PostgresConfig config{.url = place, .user = "job_service", .password = password};
  return std::make_unique<postgres::PostgresDatabase>(config, thread, clock);
}

void work_until_killed(char** arguments) {
  SystemClock clock;
  SeededRandom random(static_cast<uint64_t>(getpid()));
  const jobs::JobKinds kinds = kinds_in_chaos(arguments[3]);
  const Diary diary(arguments[4], clock);
  asio::io_context io;
  postgres::EngineThread thread;
  const std::unique_ptr<sql::Database> database = open_database(arguments[1], arguments[2], thread, clock);
  sql::SqlJobStore store(*database, kinds, clock, random);
  messaging::Bell bell;
  TaskScope scope(io.get_executor());
  jobs::JobUpkeep upkeep(store, bell, clock, random, 1h);
  upkeep.start(scope);
  jobs::JobHandlers handlers;
  handlers.add(arguments[3], [&](jobs::JobRun job) { return pretend_to_work(diary, clock, std::move(job)); });
  jobs::Workers workers({store, kinds, bell, clock, random}, {}, fmt::format("process {}", getpid()),
                        std::move(handlers), io.get_executor());
  workers.start();
  std::puts("working");
  std::fflush(stdout);
  io.run();
}

}  // namespace
}  // namespace sluice::test

int main(int count, char** arguments) {
  if (count != 5) {
    std::fputs("usage: job_worker URL|FOLDER PASSWORD KIND HISTORY\n", stderr);
    return 2;
  }
  sluice::test::work_until_killed(arguments);
}
