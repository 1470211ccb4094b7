// Claims jobs, pretends to do them and completes them, until it is killed. Ended by job_workers_test and
// embedded_job_worker_test.
//
//   job_worker URL|FOLDER PASSWORD KIND HISTORY      FOLDER: of an embedded store
//
// What it does is appended to the file HISTORY, a line each, before anybody else can know of it:
//
//   start MICROSECONDS JOB KEY        at the return of the claim
//   end MICROSECONDS JOB KEY          before completing it
//   done MICROSECONDS JOB KEY         the completion was accepted
#include <cstdio>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "adapters/postgres/postgres_database.h"
#include "adapters/sql/sql_job_store.h"
#include "adapters/sqlite/sqlite_database.h"
#include "base/check.h"
#include "runtime/system_clock.h"
#include "tests/chaos/job_kind_in_chaos.h"

namespace sluice::test {
namespace {

using jobs::ClaimedJob;

constexpr int loops = 4;
constexpr Duration work = 5ms;
constexpr Duration pause = 50ms;

class Diary {
 public:
  Diary(const char* file, const Clock& clock)
      : descriptor_(open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)), clock_(clock) {
    check(descriptor_ >= 0, "cannot open the history");
  }
  // One write each: a killed process leaves whole lines.
  void note(std::string_view what, const ClaimedJob& job) const {
    const auto now = std::chrono::floor<Duration>(clock_.now().time_since_epoch()).count();
    const std::string line = fmt::format("{} {} {} {}\n", what, now, job.id.text(), job.throttle_key.value_or("-"));
    check(write(descriptor_, line.data(), line.size()) == static_cast<ssize_t>(line.size()), "writing history");
  }

 private:
  int descriptor_;
  const Clock& clock_;
};

// Nothing where the database was away.
Task<std::vector<ClaimedJob>> try_to_claim(jobs::JobStore& store, jobs::ClaimRequest request) {
  try {
    std::vector<ClaimedJob> claimed = co_await store.claim(request);
    co_return claimed;
  } catch (const EngineUnavailable&) {
    co_return std::vector<ClaimedJob>{};
  }
}

Task<std::optional<std::vector<jobs::Verdict>>> try_to_complete(jobs::JobStore& store,
                                                                std::vector<jobs::Completion> completions) {
  try {
    std::vector<jobs::Verdict> verdicts = co_await store.complete(completions);
    co_return verdicts;
  } catch (const EngineUnavailable&) {
    co_return std::nullopt;
  }
}

Task<> complete(jobs::JobStore& store, Clock& clock, const Diary& diary, std::vector<ClaimedJob> claimed) {
  std::vector<jobs::Completion> completions;
  for (const ClaimedJob& job : claimed) completions.push_back({{job.id, job.token}});
  std::optional<std::vector<jobs::Verdict>> verdicts;
  while (!verdicts) {
    verdicts = co_await try_to_complete(store, completions);
    if (!verdicts) co_await clock.sleep_for(pause);
  }
  for (size_t i = 0; i < claimed.size(); ++i) {
    if ((*verdicts)[i] == jobs::Verdict::accepted) diary.note("done", claimed[i]);
  }
}

Task<> work_for_ever(jobs::JobStore& store, Clock& clock, const Diary& diary, std::string kind) {
  const jobs::ClaimRequest request{.worker = fmt::format("process {}", getpid()), .kinds = {kind}, .limit = 5};
  while (true) {
    const std::vector<ClaimedJob> claimed = co_await try_to_claim(store, request);
    for (const ClaimedJob& job : claimed) diary.note("start", job);
    co_await clock.sleep_for(claimed.empty() ? pause : work);
    for (const ClaimedJob& job : claimed) diary.note("end", job);
    if (!claimed.empty()) co_await complete(store, clock, diary, claimed);
  }
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
  for (int i = 0; i < loops; ++i) {
    asio::co_spawn(io, work_for_ever(store, clock, diary, arguments[3]),
                   [](const std::exception_ptr& error) { std::rethrow_exception(error); });
  }
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
