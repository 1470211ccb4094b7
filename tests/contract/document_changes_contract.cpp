// Contract of every documents::DocumentStore for changes, purges and unused documents, tested on a real engine.
#include "tests/contract/document_changes_suite.h"

namespace sluice::test {

TEST_P(DocumentChangesContract, a_purged_document_is_no_longer_known_and_its_change_is_kept) {
  complete(acquire(), "good");
  run(store_->purge(key()));
  EXPECT_FALSE(run(store_->knows(key())));
  run(store_->abort(key(), acquire()));
  EXPECT_EQ(run(store_->changes_since(origin_, 0)).size(), 1U);
}

TEST_P(DocumentChangesContract, what_nobody_asked_for_is_forgotten_unless_it_is_claimed) {
  complete(acquire(), "good");
  EXPECT_EQ(run(store_->forget(origin_, 1h)), 0);
  const int64_t token = acquire({.force = true});
  EXPECT_EQ(run(store_->forget(origin_, 0s)), 0);
  run(store_->abort(key(), token));
  EXPECT_EQ(run(store_->forget(origin_, 0s)), 1);
  EXPECT_EQ(body(), "");
}

TEST_P(DocumentChangesContract, what_is_asked_for_is_not_forgotten) {
  complete(acquire(), "good");
  age(std::chrono::days(100));
  run(store_->note_asked(origin_, {"a/b.xml", "not/stored.xml"}));
  EXPECT_EQ(run(store_->forget(origin_, std::chrono::days(90))), 0);
  age(std::chrono::days(100));
  EXPECT_EQ(run(store_->forget(origin_, std::chrono::days(90))), 1);
}

TEST_P(DocumentChangesContract, sweeping_ends_expired_claims_only) {
  const documents::DocumentKey live = key("live.xml");
  documents::DownloadClaim request{live, "me", 1min, 1h};
  run(store_->claim(request));
  const int64_t expired = acquire({.ttl = 50ms});
  ASSERT_TRUE(eventually([&] { return state() != DownloadState::under_way; }));
  EXPECT_GE(run(store_->sweep()), 1);
  EXPECT_FALSE(complete(expired, "late"));
  EXPECT_EQ(run(store_->download_state(live)), DownloadState::under_way);
  EXPECT_GT(acquire(), expired) << "tokens go on growing";
}

TEST_P(DocumentChangesContract, changes_are_numbered_and_listed_oldest_first) {
  EXPECT_EQ(run(store_->last_change(origin_)), 0);
  EXPECT_TRUE(run(store_->changes_since(origin_, 0)).empty());
  for (const std::string path : {"1.xml", "2.xml", "1.xml"}) {
    documents::DownloadClaim request{key(path), "me", 1min, 0s, true};
    const auto token = std::get<Acquired>(run(store_->claim(request))).token;
    const auto made = document(path);
    made->forced = path == "2.xml";
    run(store_->complete(key(path), token, *made));
  }
  EXPECT_EQ(run(store_->last_change(origin_)), 3);
  const auto changes = run(store_->changes_since(origin_, 0));
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].path, "2.xml");
  EXPECT_TRUE(changes[0].forced);
  EXPECT_EQ(changes[1].path, "1.xml");
  EXPECT_FALSE(changes[1].forced);
  EXPECT_EQ(changes[1].number, 3);
  EXPECT_EQ(run(store_->changes_since(origin_, 2)).size(), 1U);
  EXPECT_TRUE(run(store_->changes_since(origin_, 3)).empty());
}

TEST_P(DocumentChangesContract, changes_at_the_same_time_get_different_numbers) {
  std::vector<Task<DocumentPtr>> completing;
  for (int i = 0; i < 20; ++i) {
    const documents::DocumentKey one = key(fmt::format("{}.xml", i));
    documents::DownloadClaim request{one, "me", 1min, 1h};
    const auto token = std::get<Acquired>(run(store_->claim(request))).token;
    completing.push_back(store_->complete(one, token, *document("body")));
  }
  for (const DocumentPtr& stored : values_of(std::move(completing))) EXPECT_TRUE(stored);
  const auto changes = run(store_->changes_since(origin_, 0));
  ASSERT_EQ(changes.size(), 20U);
  for (size_t i = 0; i < changes.size(); ++i) EXPECT_EQ(changes[i].number, static_cast<int64_t>(i) + 1);
}

TEST_P(DocumentChangesContract, a_purged_copy_is_gone_and_the_others_learn_of_it) {
  EXPECT_FALSE(run(store_->purge(key())));
  const auto forced = document("good");
  forced->forced = true;
  complete(acquire(), forced);
  const int64_t before = run(store_->last_change(origin_));
  EXPECT_TRUE(run(store_->purge(key())));
  EXPECT_EQ(body(), "");
  EXPECT_FALSE(run(store_->purge(key())));
  const auto changes = run(store_->changes_since(origin_, before));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].path, "a/b.xml");
  EXPECT_FALSE(changes[0].forced);
  EXPECT_TRUE(is<Acquired>(claim()));
}

TEST_P(DocumentChangesContract, a_download_under_way_survives_a_purge) {
  complete(acquire(), "good");
  const int64_t token = acquire({.force = true});
  run(store_->purge(key()));
  EXPECT_TRUE(is<Downloading>(claim()));
  EXPECT_TRUE(complete(token, "new"));
  EXPECT_EQ(body(), "new");
}

}  // namespace sluice::test
