// The fixture of job_remains_contract.cpp, for the engines that run it.
#pragma once

#include "tests/contract/job_store_fixture.h"

namespace sluice::test {

class JobRemainsContract : public JobStoreFixture {
 protected:
  using Ids = std::vector<JobId>;

  void purge_all() {
    while (run(store_->purge(-1s, 1'000)) > 0) continue;
  }
};

}  // namespace sluice::test
