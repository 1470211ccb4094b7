// Contract of every coordination::SharedBreaker, tested on a real engine.
#include "tests/contract/shared_breaker_suite.h"

namespace sluice::test {

TEST_P(SharedBreakerContract, it_opens_when_half_of_ten_failed) {
  EXPECT_EQ(state(), State::closed);
  calls(4, false);
  calls(6, true);
  EXPECT_EQ(state(), State::closed) << "four of ten failed";
  calls(4, false);
  EXPECT_EQ(state(), State::closed) << "the first four have left the window";
  call(false);
  EXPECT_NE(state(), State::closed);
}

TEST_P(SharedBreakerContract, fewer_than_ten_calls_never_open_it) {
  calls(9, false);
  EXPECT_TRUE(ask());
}

TEST_P(SharedBreakerContract, while_open_callers_are_told_how_long_to_wait) {
  open();
  const Asked asked = ask();
  if (!asked) {
    EXPECT_GT(asked.error(), 0ms);
    EXPECT_LE(asked.error(), 150ms);
  }
  EXPECT_LE(run(breaker_->state(key_)).retry_after, 150ms);
}

TEST_P(SharedBreakerContract, breakers_are_apart) {
  open();
  EXPECT_TRUE(run(breaker_->ask(unique("breaker"), 1min)));
}

TEST_P(SharedBreakerContract, one_trial_at_a_time) {
  open();
  ASSERT_TRUE(eventually([&] { return state() == State::half_open; }));
  std::vector<Task<Asked>> asking;
  for (int i = 0; i < 20; ++i) asking.push_back(breaker_->ask(key_, 1min));
  std::vector<Permit> permits;
  for (const Asked& asked : values_of(std::move(asking))) {
    if (asked) permits.push_back(*asked);
  }
  ASSERT_EQ(permits.size(), 1U);
  EXPECT_GT(ask().error(), 50s) << "until the trial's lease ends";
  record(permits[0], true);
  EXPECT_TRUE(ask());
}

TEST_P(SharedBreakerContract, a_trial_that_crashed_comes_back_after_its_ttl) {
  open();
  const Permit crashed = trial(500ms);
  const Asked meanwhile = ask();
  if (meanwhile) EXPECT_GE(std::chrono::steady_clock::now() - trial_asked_, 499ms);  // this machine stood still
  const Permit next = meanwhile ? *meanwhile : trial();
  record(crashed, false);
  EXPECT_EQ(state(), State::half_open) << "whoever lost the trial does not decide it";
  record(next, true);
  EXPECT_TRUE(ask());
}

TEST_P(SharedBreakerContract, a_trial_that_was_not_made_is_free_at_once) {
  open();
  const Permit permit = trial();
  EXPECT_FALSE(ask());
  run(breaker_->forget(key_, permit));
  EXPECT_TRUE(ask());
}

TEST_P(SharedBreakerContract, five_good_trials_close_it) {
  open();
  for (int i = 0; i < 5; ++i) {
    EXPECT_NE(state(), State::closed);
    record(trial(), true);
  }
  EXPECT_EQ(state(), State::closed);
  calls(9, false);
  EXPECT_EQ(state(), State::closed) << "it has forgotten what was before";
}

TEST_P(SharedBreakerContract, a_failed_trial_opens_it_for_longer) {
  open();
  record(trial(), true);
  const Permit second = trial();
  const auto failed = std::chrono::steady_clock::now();
  record(second, false);
  trial();
  EXPECT_GE(std::chrono::steady_clock::now() - failed, 299ms);
}

TEST_P(SharedBreakerContract, a_call_begun_before_it_opened_does_not_count) {
  const Permit before = ask().value();
  open();
  record(before, false);
  const Permit first = trial();
  record(before, false);
  EXPECT_EQ(state(), State::half_open);
  record(first, true);
  for (int i = 0; i < 4; ++i) record(trial(), true);
  ASSERT_EQ(state(), State::closed);
  calls(5, true);
  calls(4, false);
  record(before, false);
  EXPECT_EQ(state(), State::closed);
}

TEST_P(SharedBreakerContract, outcomes_of_many_callers_at_once_all_count) {
  const Permit permit = ask().value();
  std::vector<Task<>> records;
  for (int i = 0; i < 10; ++i) records.push_back(breaker_->record(key_, permit, i % 2 == 0));
  for (const auto& outcome : run_all(std::move(records))) EXPECT_FALSE(outcome.error);
  EXPECT_NE(state(), State::closed);
}

}  // namespace sluice::test
