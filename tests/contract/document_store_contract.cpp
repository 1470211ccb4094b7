// Contract of every documents::DocumentStore for claims and copies, tested on a real engine.
#include "tests/contract/document_store_suite.h"

namespace sluice::test {

TEST_P(DocumentStoreContract, of_many_callers_exactly_one_acquires) {
  EXPECT_EQ(race(40, {}).size(), 1U);
  EXPECT_TRUE(is<Downloading>(claim()));
  EXPECT_EQ(state(), DownloadState::under_way);
}

TEST_P(DocumentStoreContract, what_was_stored_is_found_whole) {
  const auto made = document("<a/>");
  made->case_type = "civil";
  const int64_t token = acquire();
  EXPECT_FALSE(run(store_->find(key())));
  EXPECT_TRUE(complete(token, made));
  const DocumentPtr found = run(store_->find(key()));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->body, "<a/>");
  EXPECT_EQ(found->content_type, "application/xml");
  EXPECT_EQ(found->etag, "\"1\"");
  EXPECT_EQ(found->case_type, "civil");
  EXPECT_FALSE(found->forced);
  EXPECT_EQ(state(), DownloadState::stored);
  EXPECT_FALSE(run(store_->find(key("a/other.xml"))));
}

TEST_P(DocumentStoreContract, large_bodies_keep_every_byte) {
  std::string large(3 << 20, '\0');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 31 >> 3);
  EXPECT_TRUE(complete(acquire(), large));
  EXPECT_TRUE(body() == large);
}

TEST_P(DocumentStoreContract, a_fresh_copy_is_not_claimed_and_an_old_one_is) {
  const int64_t first = acquire();
  complete(first, "first");
  EXPECT_TRUE(is<Cached>(claim()));
  EXPECT_TRUE(race(20, {}).empty());
  const std::vector<int64_t> tokens = race(20, {.fresh_for = 0s});
  ASSERT_EQ(tokens.size(), 1U);
  EXPECT_GT(tokens.front(), first);
}

TEST_P(DocumentStoreContract, an_expired_claim_is_taken_over_by_exactly_one) {
  const int64_t first = acquire({.ttl = 150ms});
  std::vector<int64_t> tokens;
  ASSERT_TRUE(eventually([&] {
    tokens = race(20, {});
    return !tokens.empty();
  }));
  ASSERT_EQ(tokens.size(), 1U);
  EXPECT_GT(tokens.front(), first);
}

TEST_P(DocumentStoreContract, an_old_token_stores_nothing) {
  const int64_t old = acquire({.ttl = 50ms});
  int64_t current = 0;
  ASSERT_TRUE(eventually([&] {
    const ClaimOutcome outcome = claim();
    if (is<Acquired>(outcome)) current = std::get<Acquired>(outcome).token;
    return current != 0;
  }));
  EXPECT_FALSE(complete(old, "late"));
  EXPECT_EQ(body(), "");
  run(store_->abort(key(), old));
  fail(old, 1h);
  EXPECT_FALSE(run(store_->renew(key(), old, 1h)));
  EXPECT_EQ(state(), DownloadState::under_way) << "the new owner's claim is untouched";
  EXPECT_TRUE(complete(current, "in time"));
  EXPECT_FALSE(complete(current, "twice"));
  EXPECT_EQ(body(), "in time");
}

TEST_P(DocumentStoreContract, a_renewed_claim_outlives_its_ttl) {
  const int64_t token = acquire({.ttl = 500ms});
  EXPECT_TRUE(run(store_->renew(key(), token, 200ms)));
  EXPECT_TRUE(run(store_->renew(key(), token, 1min)));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(is<Acquired>(claim()));
  while (std::chrono::steady_clock::now() - began < 600ms) ASSERT_EQ(state(), DownloadState::under_way);
  EXPECT_TRUE(complete(token, "done"));
}

TEST_P(DocumentStoreContract, after_an_abort_the_next_may_try_at_once) {
  const int64_t first = acquire();
  run(store_->abort(key(), first));
  EXPECT_EQ(state(), DownloadState::nothing);
  EXPECT_GT(acquire(), first);
}

TEST_P(DocumentStoreContract, nothing_is_left_of_a_stranger_that_was_given_up) {
  const int64_t token = acquire();
  EXPECT_FALSE(run(store_->knows(key())));
  run(store_->abort(key(), token));
  EXPECT_EQ(rows(), 0);
  acquire({.ttl = 50ms});
  ASSERT_TRUE(eventually([&] {
    run(store_->sweep());
    return rows() == 0;
  }));
}

TEST_P(DocumentStoreContract, an_owner_whose_row_was_swept_stores_nothing_under_the_next_claim) {
  const int64_t old = acquire({.ttl = 50ms});
  ASSERT_TRUE(eventually([&] {
    run(store_->sweep());
    return rows() == 0;
  }));
  const int64_t next = acquire();
  EXPECT_GT(next, old);
  EXPECT_FALSE(complete(old, "late"));
  EXPECT_TRUE(complete(next, "in time"));
  EXPECT_EQ(body(), "in time");
}

TEST_P(DocumentStoreContract, what_is_stored_listed_or_purged_stays_when_a_claim_is_given_up) {
  run(store_->abort(key(), acquire({.listed = true})));
  EXPECT_TRUE(run(store_->knows(key())));
  EXPECT_EQ(rows(), 1);
  complete(acquire(), "good");
  EXPECT_TRUE(run(store_->knows(key())));
  run(store_->purge(key()));
  EXPECT_TRUE(run(store_->knows(key()))) << "it is still listed";
  run(store_->abort(key(), acquire()));
  EXPECT_EQ(rows(), 1);
}

TEST_P(DocumentStoreContract, a_failed_download_holds_the_document_down) {
  fail(acquire(), 1h);
  EXPECT_EQ(state(), DownloadState::failed);
  const ClaimOutcome outcome = claim();
  ASSERT_TRUE(is<HeldDown>(outcome));
  const auto left = std::get<HeldDown>(outcome).until - std::chrono::system_clock::now();
  EXPECT_GT(left, 59min);
  EXPECT_LT(left, 61min);
}

TEST_P(DocumentStoreContract, a_hold_down_ends) {
  fail(acquire(), 100ms);
  EXPECT_TRUE(eventually([&] { return is<Acquired>(claim()); }));
}

TEST_P(DocumentStoreContract, hold_downs_double_to_the_longest_and_start_again_after_a_success) {
  const auto held_for = [&] {
    const auto until = std::get<HeldDown>(claim({.fresh_for = 0s})).until;
    return std::chrono::round<std::chrono::minutes>(until - std::chrono::system_clock::now());
  };
  for (const auto expected : {10min, 20min, 40min, 60min, 60min}) {
    fail(acquire({.force = true}), 10min, 60min);
    EXPECT_EQ(held_for(), expected);
  }
  complete(acquire({.force = true}), "good again");
  fail(acquire({.force = true}), 10min, 60min);
  EXPECT_EQ(held_for(), 10min);
}

TEST_P(DocumentStoreContract, even_after_a_hundred_failures_the_hold_down_is_the_longest) {
  for (int i = 0; i < 100; ++i) fail(acquire({.force = true}), 24h, 48h);
  EXPECT_LT(std::get<HeldDown>(claim()).until - std::chrono::system_clock::now(), 49h);
}

TEST_P(DocumentStoreContract, a_claim_never_destroys_the_last_good_copy) {
  complete(acquire(), "good");
  const int64_t second = acquire({.fresh_for = 0s});
  EXPECT_EQ(body(), "good");
  fail(second, 1ms);
  EXPECT_EQ(body(), "good");
  const int64_t third = acquire({.force = true});
  run(store_->abort(key(), third));
  EXPECT_EQ(body(), "good");
  acquire({.ttl = 50ms, .force = true});
  ASSERT_TRUE(eventually([&] { return state() != DownloadState::under_way; }));
  run(store_->sweep());
  EXPECT_EQ(body(), "good");
}

TEST_P(DocumentStoreContract, force_claims_over_a_good_copy_and_during_a_hold_down) {
  complete(acquire(), "good");
  const int64_t forced = acquire({.force = true});
  EXPECT_TRUE(is<Downloading>(claim({.force = true}))) << "but not over a live claim";
  fail(forced, 1h);
  const auto better = document("better");
  better->forced = true;
  EXPECT_TRUE(complete(acquire({.force = true}), better));
  EXPECT_EQ(body(), "better");
  EXPECT_TRUE(run(store_->find(key()))->forced);
  EXPECT_TRUE(is<Cached>(claim())) << "the hold-down is over";
}

TEST_P(DocumentStoreContract, a_fresh_copy_counts_also_while_a_forced_download_is_held_down) {
  complete(acquire(), "good");
  fail(acquire({.force = true}), 1h);
  EXPECT_TRUE(is<Cached>(claim()));
}

TEST_P(DocumentStoreContract, who_claims_over_a_fresh_copy_heeds_a_hold_down) {
  complete(acquire(), "unusable");
  const auto failed = std::chrono::steady_clock::now();
  fail(acquire({.over_fresh = true}), 1s);
  const bool held_down = is<HeldDown>(claim({.over_fresh = true}));
  if (held_down) {
    EXPECT_TRUE(eventually([&] { return is<Acquired>(claim({.over_fresh = true})); }));
  }
  EXPECT_GE(std::chrono::steady_clock::now() - failed, 999ms);
  EXPECT_TRUE(is<Downloading>(claim({.over_fresh = true}))) << "nor is it over a live claim";
}

TEST_P(DocumentStoreContract, the_case_type_is_kept_until_another_is_given) {
  const auto civil = document("1");
  civil->case_type = "civil";
  complete(acquire(), civil);
  complete(acquire({.force = true}), "2");
  EXPECT_EQ(run(store_->find(key()))->case_type, "civil");
  const auto family = document("3");
  family->case_type = "family";
  complete(acquire({.force = true}), family);
  EXPECT_EQ(run(store_->find(key()))->case_type, "family");
}

TEST_P(DocumentStoreContract, what_was_stored_is_returned_as_the_next_reader_finds_it) {
  const auto first = document("1");
  first->case_type = "civil";
  first->forced = true;
  complete(acquire(), first);
  const DocumentPtr stored = complete(acquire({.force = true}), "2");
  ASSERT_TRUE(stored);
  const DocumentPtr found = run(store_->find(key()));
  EXPECT_EQ(stored->body, "2");
  EXPECT_EQ(stored->case_type, "civil");
  EXPECT_TRUE(stored->forced);
  EXPECT_EQ(stored->fetched_at, found->fetched_at);
  EXPECT_EQ(stored->change, run(store_->last_change(origin_)));
  EXPECT_EQ(found->change, stored->change);
}

}  // namespace sluice::test
