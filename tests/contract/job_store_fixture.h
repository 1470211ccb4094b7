// A job store on a real engine, with a kind of its own for every test.
#pragma once

#include <algorithm>
#include <map>

#include "adapters/sql/jobs/sql_job_store.h"
#include "runtime/system_clock.h"
#include "tests/contract/database_fixture.h"

namespace sluice::test {

class JobStoreFixture : public DatabaseFixture {
 protected:
  using ClaimedJob = jobs::ClaimedJob;
  using Enqueued = jobs::Enqueued;
  using Job = jobs::Job;
  using JobId = jobs::JobId;
  using JobKind = jobs::JobKind;
  using JobStatus = jobs::JobStatus;
  using NewJob = jobs::NewJob;
  using Verdict = jobs::Verdict;
  using enum JobStatus;

  void SetUp() override {
    DatabaseFixture::SetUp();
    kind_ = unique("kind");
    use({});
  }

  // From now on the test's kind has these settings.
  void use(JobKind settings) {
    kinds_ = std::make_unique<jobs::JobKinds>(std::map<std::string, JobKind>{{kind_, std::move(settings)}});
    store_ = std::make_unique<sql::SqlJobStore>(database(), *kinds_, clock_, random_);
  }

  NewJob job(std::string payload = "{}") const { return {.kind = kind_, .payload = std::move(payload)}; }
  NewJob job_of_key(std::string throttle_key, int32_t priority = 0) const {
    return {.kind = kind_, .payload = "{}", .priority = priority, .throttle_key = std::move(throttle_key)};
  }
  NewJob unique_job(std::string unique_key) const {
    return {.kind = kind_, .payload = "{}", .unique_key = std::move(unique_key)};
  }

  std::vector<Enqueued> enqueue_all(std::vector<NewJob> jobs) { return run(store_->enqueue(std::move(jobs))); }
  Enqueued enqueue(NewJob job) { return enqueue_all({std::move(job)}).at(0); }
  JobId add(NewJob job) { return enqueue(std::move(job)).id; }
  JobId add() { return add(job()); }

  std::vector<ClaimedJob> claim(size_t limit = 10) { return run(store_->claim({"worker", {kind_}, limit})); }
  ClaimedJob claim_one() { return claim(1).at(0); }
  // The ids of claimed jobs, in order.
  std::vector<JobId> claimed_ids(size_t limit = 10) {
    std::vector<JobId> ids;
    for (const ClaimedJob& claimed : claim(limit)) ids.push_back(claimed.id);
    return ids;
  }

  static jobs::LockedJob lock_of(const ClaimedJob& claimed) { return {claimed.id, claimed.token}; }
  Verdict complete(jobs::LockedJob locked, std::optional<std::string> result = std::nullopt) {
    return run(store_->complete({{locked, std::move(result)}})).at(0);
  }
  static jobs::Completion completion_of(const ClaimedJob& claimed) {
    return {lock_of(claimed), std::nullopt, claimed.kind, claimed.throttle_key};
  }
  Verdict complete(const ClaimedJob& claimed) { return run(store_->complete({completion_of(claimed)})).at(0); }
  jobs::FailVerdict fail(const ClaimedJob& claimed, bool permanent = false) {
    return run(store_->fail({{lock_of(claimed), "it broke", permanent}})).at(0);
  }
  Verdict renew(const ClaimedJob& claimed) { return run(store_->renew({lock_of(claimed)})).at(0); }

  Job find(JobId id) { return run(store_->find(id)).value(); }
  JobStatus status(JobId id) { return find(id).status; }
  JobId make_id() { return JobId::make(clock_.wall(), random_); }

  // A job that has been claimed and whose lock has run out.
  ClaimedJob claim_and_lose() {
    const ClaimedJob claimed = claim_one();
    EXPECT_TRUE(eventually([&] { return clock_.wall() > claimed.lock_expires_at + 5ms; }));
    return claimed;
  }

  SystemClock clock_;
  SeededRandom random_{std::random_device{}()};
  std::string kind_;
  std::unique_ptr<jobs::JobKinds> kinds_;
  std::unique_ptr<sql::SqlJobStore> store_;
};

// Its tests stand in job_store_contract.cpp and job_ends_contract.cpp.
class JobStoreContract : public JobStoreFixture {};

}  // namespace sluice::test
