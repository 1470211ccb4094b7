// The fixture of job_requests_contract.cpp, for the engines that run it.
#pragma once

#include "tests/contract/job_store_fixture.h"

namespace sluice::test {

class JobRequestsContract : public JobStoreFixture {
 protected:
  using Answers = std::optional<std::vector<Enqueued>>;

  jobs::EnqueueRequest request() {
    jobs::EnqueueRequest one;
    one.id = decltype(one.id)::make(clock_.wall(), random_);
    one.content = decltype(one.content)::make(clock_.wall(), random_);
    return one;
  }
  Answers enqueue_for(const jobs::EnqueueRequest& request, std::vector<NewJob> jobs) {
    return run(store_->enqueue_for(request, std::move(jobs)));
  }
  static std::vector<std::pair<JobId, bool>> flat(const Answers& answers) {
    std::vector<std::pair<JobId, bool>> all;
    for (const Enqueued& one : answers.value()) all.emplace_back(one.id, one.duplicate);
    return all;
  }
};

}  // namespace sluice::test
