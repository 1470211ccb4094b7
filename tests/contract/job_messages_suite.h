// The fixture of job_messages_contract.cpp, for the engines that run it.
#pragma once

#include "tests/contract/job_store_fixture.h"

namespace sluice::test {

class JobMessagesContract : public JobStoreFixture {
 protected:
  messaging::MessageId message() { return messaging::MessageId::make(clock_.wall(), random_); }
  bool enqueue_once(messaging::MessageId message, std::vector<NewJob> jobs) {
    return run(store_->enqueue_once(message, std::move(jobs)));
  }
};

}  // namespace sluice::test
