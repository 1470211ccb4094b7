// The fixture of shared_breaker_contract.cpp, for the engines that run it.
#pragma once

#include "adapters/sql/coordination/sql_shared_breaker.h"
#include "tests/contract/database_fixture.h"

namespace sluice::test {

class SharedBreakerContract : public DatabaseFixture {
 protected:
  using Permit = coordination::BreakerPermit;
  using Asked = Result<Permit, Duration>;
  using State = CircuitBreaker::State;

  void SetUp() override {
    DatabaseFixture::SetUp();
    breaker_.emplace(database(), BreakerConfig{.open_for = 150ms});
    key_ = unique("breaker");
  }

  Asked ask(Duration trial_ttl = 1min) { return run(breaker_->ask(key_, trial_ttl)); }
  void record(Permit permit, bool success) { run(breaker_->record(key_, permit, success)); }
  void call(bool success) { record(ask().value(), success); }
  void calls(int count, bool success) {
    for (int i = 0; i < count; ++i) call(success);
  }
  State state() { return run(breaker_->state(key_)).state; }

  void open() {
    calls(5, true);
    calls(5, false);
    ASSERT_NE(state(), State::closed);
  }
  // A permit for a trial, as soon as there is one.
  Permit trial(Duration ttl = 1min) {
    std::optional<Permit> permit;
    EXPECT_TRUE(eventually([&] {
      trial_asked_ = std::chrono::steady_clock::now();
      const Asked asked = ask(ttl);
      if (asked) permit = *asked;
      return permit.has_value();
    }));
    return permit.value();
  }

  std::optional<sql::SqlSharedBreaker> breaker_;
  std::chrono::steady_clock::time_point trial_asked_;  // just before the last trial was granted
  std::string key_;
};

}  // namespace sluice::test
