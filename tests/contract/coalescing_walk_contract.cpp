// Random walks through a coordination::Coalescing, compared with the model step by step.
#include "tests/contract/coalescing_walk_suite.h"

namespace sluice::test {

TEST_P(CoalescingWalk, every_answer_is_the_models) {
  for (uint64_t seed = 1; seed <= (in_full() ? 1000 : 30); ++seed) {
    start(seed);
    for (int i = 0; i < 100; ++i) {
      step();
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << ", step " << i;
    }
  }
}

// Everybody asks all the time and fetches fail at random: still every message that arrives is fetched or was satisfied,
// and the row grows with every fetch that ends well.
TEST_P(CoalescingWalk, an_item_asked_for_again_and_again_is_refreshed) {
  start(7);
  std::deque<Version> log;
  int refreshed = 0;
  for (int i = 0; i < 400; ++i) {
    const RefreshAnswer answer = run(somebody().request({item_, below(3), some_row(), {1h, 1h, 1h}}));
    if (answer.to_publish()) log.push_back(answer.message.version);
    if (below(3) != 0 || log.empty()) continue;
    const FetchAnswer fetch = run(somebody().begin({item_, log.front(), some_row(), low, "worker"}));
    ASSERT_NE(fetch.outcome, FetchOutcome::busy);
    if (fetch.outcome == FetchOutcome::run && below(4) == 0) {
      run(somebody().abandon(item_, "worker", std::nullopt));
      continue;  // the message comes again
    }
    log.pop_front();
    if (fetch.outcome == FetchOutcome::obsolete) continue;
    ASSERT_GT(fetch.covers, row_);
    row_ = fetch.covers;
    ++refreshed;
    run(somebody().finish(item_, "worker", fetch.covers));
  }
  EXPECT_GE(refreshed, 40);
}

}  // namespace sluice::test
