// The fixture of job_throttle_contract.cpp, for the engines that run it.
#pragma once

#include <set>

#include <gmock/gmock.h>

#include "tests/contract/job_store_fixture.h"

namespace sluice::test {

class JobThrottleContract : public JobStoreFixture {
 protected:
  size_t running_of(const std::string& key) {
    const jobs::JobPage page = run(store_->list({kind_, running}, std::nullopt, 1000));
    return static_cast<size_t>(std::ranges::count(page.jobs, key, &Job::throttle_key));
  }

  // Claims and completes until nothing is left; counts concurrent jobs.
  struct Tally {
    std::map<std::string, int> running{};
    int most = 0;
    size_t done = 0;
    std::multiset<JobId> seen{};
  };
  static Task<> work(sql::SqlJobStore& store, std::string kind, size_t all, Tally& tally) {
    const jobs::ClaimRequest request{"worker", {kind}, 5};
    while (tally.done < all) {
      const std::vector<ClaimedJob> claimed = co_await store.claim(request);
      std::vector<jobs::Completion> completions;
      for (const ClaimedJob& one : claimed) {
        tally.most = std::max(tally.most, ++tally.running[*one.throttle_key]);
        tally.seen.insert(one.id);
        completions.push_back(completion_of(one));
      }
      for (const ClaimedJob& one : claimed) --tally.running[*one.throttle_key];
      // From here on it may be completed in the database at any time.
      const std::vector<Verdict> verdicts = co_await store.complete(completions);
      tally.done += static_cast<size_t>(std::ranges::count(verdicts, Verdict::accepted));
    }
  }
};

}  // namespace sluice::test
