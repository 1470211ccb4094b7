// The fixture of job_transitions_contract.cpp, for the engines that run it.
#pragma once

#include "tests/contract/job_store_fixture.h"

namespace sluice::test {

class JobTransitionsContract : public JobStoreFixture {
 protected:
  // Whether the database lets the statement change anything. $1 is the job.
  bool allowed(sql::Statement statement, JobId id) {
    sql::Params params(id);
    try {
      return run(database().write(statement, std::move(params))).affected > 0;
    } catch (const sql::ConstraintViolation& refused) {
      EXPECT_EQ(refused.kind(), sql::ConstraintViolation::Kind::check) << refused.what();
      return false;
    }
  }
  bool ends_as(const std::string& wanted, JobId id) {
    const std::string text = fmt::format(
        "INSERT INTO finished_jobs (id, kind, status, priority, run_after, attempts, max_attempts, lock_token, "
        "created_at, finished_at, locked_at, locked_by, payload) SELECT id, kind, '{}', priority, run_after, attempts, "
        "max_attempts, "
        "lock_token, created_at, now(), locked_at, locked_by, payload FROM jobs WHERE id = $1",
        wanted);
    return allowed(std::string_view(text), id);
  }
  JobId running_job() {
    add();
    return claim_one().id;
  }
  JobId failed_job() {
    const JobId id = add();
    fail(claim_one());
    return id;
  }

  static constexpr sql::Statement to_queued = "UPDATE jobs SET status = 'queued' WHERE id = $1";
  static constexpr sql::Statement to_failed = "UPDATE jobs SET status = 'failed' WHERE id = $1";
  static constexpr sql::Statement to_running = "UPDATE jobs SET status = 'running' WHERE id = $1";
};

}  // namespace sluice::test
