// When a document cannot be fetched.
#include "documents/testing/origin_documents_fixture.h"

namespace sluice::documents {
namespace {

// A failure that keeps a document from being fetched, and the reason that readers get.
struct Trouble {
  Reason reason;
  std::optional<FetchError> error{};
  Refusal to_strangers = Refusal::unavailable;  // where there is no copy
  bool breaker_open = false;
  bool slots_taken = false;

  friend void PrintTo(const Trouble& trouble, std::ostream* out) { *out << enum_name(trouble.reason); }
};

struct TroubledOriginTest : OriginDocumentsTest, testing::WithParamInterface<Trouble> {
  void SetUp() override {
    origin.error = GetParam().error;
    breaker.open = GetParam().breaker_open;
    if (GetParam().slots_taken) readers.spawn("other", occupy(slots));
    pass(0s);
  }
};

TEST_P(TroubledOriginTest, a_reader_without_any_copy_is_told_why) {
  const Reading& reading = get_now(instance());
  EXPECT_EQ(reading.refused(), GetParam().reason);
  EXPECT_EQ(reading.lookup->error().kind, GetParam().to_strangers);
}

TEST_P(TroubledOriginTest, a_listed_document_without_any_copy_is_unavailable_unless_the_origin_says_it_is_missing) {
  RefreshRequest request{.path = path, .listed = true};
  const Reading& reading = ask(instance().refresh(std::move(request)), readers);
  pass(30s);
  EXPECT_EQ(reading.refused(), GetParam().reason);
  EXPECT_TRUE(reading.is(GetParam().error == FetchError::missing ? Refusal::not_found : Refusal::unavailable));
}

TEST_P(TroubledOriginTest, the_last_good_copy_is_served_however_old) {
  store_copy("old", 1000 * fresh_for);
  const Reading& reading = get_now(instance());
  EXPECT_EQ(reading.body(), "old");
  EXPECT_EQ(reading.source(), Source::stale);
  EXPECT_EQ(reading.degraded(), GetParam().reason);
}

TEST_P(TroubledOriginTest, the_static_copy_goes_before_the_last_good_one) {
  store_copy("old", 1000 * fresh_for);
  static_copies.copies[path.text()] = make_document("bundled", clock.wall());
  const Reading& reading = refresh(instance(), true);
  pass(30s);
  EXPECT_EQ(reading.body(), "bundled");
  EXPECT_EQ(reading.source(), Source::static_file);
  EXPECT_EQ(reading.degraded(), GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(Reasons, TroubledOriginTest,
                         testing::Values(Trouble{Reason::origin_error, FetchError::failed},
                                         Trouble{Reason::origin_error, FetchError::missing, Refusal::not_found},
                                         Trouble{Reason::origin_error, FetchError::throttled},
                                         Trouble{Reason::origin_error, FetchError::refused},
                                         Trouble{Reason::download_timeout, FetchError::timeout},
                                         Trouble{Reason::invalid_content, FetchError::invalid, Refusal::not_found},
                                         Trouble{Reason::invalid_content, FetchError::too_large, Refusal::not_found},
                                         Trouble{.reason = Reason::breaker_open, .breaker_open = true},
                                         Trouble{.reason = Reason::rate_limit_exceeded,
                                                 .to_strangers = Refusal::too_many,
                                                 .slots_taken = true}));

TEST_F(OriginDocumentsTest, a_crowd_that_cannot_be_served_asks_once_for_the_last_copy) {
  origin.error = FetchError::failed;
  store_copy("old", 2 * fresh_for);
  OriginDocuments& documents = instance();
  for (int i = 0; i < 100; ++i) get(documents);
  pass(1s);
  for (const Reading& reading : readings) EXPECT_EQ(reading.body(), "old");
  EXPECT_LE(store.finds, 2);
}

TEST_F(OriginDocumentsTest, a_document_that_just_failed_is_held_down_and_answered_at_once) {
  store.rows[path.text()].listed = true;
  origin.error = FetchError::failed;
  OriginDocuments& documents = instance();
  get(documents);
  pass(1s);
  const Reading& second = get(documents);
  pass(0s);
  EXPECT_EQ(second.refused(), Reason::hold_down);
  EXPECT_EQ(origin.asked, 1);
  origin.error.reset();
  pass(5s);
  EXPECT_EQ(get_now(documents).body(), "fetched 2");
}

TEST_F(OriginDocumentsTest, an_open_breaker_is_asked_once_a_second_and_costs_no_claim) {
  breaker.open = true;
  OriginDocuments& documents = instance();
  for (int i = 0; i < 10; ++i) {
    get(documents);
    pass(50ms);
  }
  EXPECT_EQ(breaker.asked, 1);
  EXPECT_EQ(origin.asked, 0);
  breaker.open = false;
  pass(1s);
  EXPECT_EQ(get_now(documents).body(), "fetched 1");
}

TEST_F(OriginDocumentsTest, a_trial_call_that_got_no_slot_is_given_back) {
  readers.spawn("other", occupy(slots));
  EXPECT_EQ(get_now(instance()).refused(), Reason::rate_limit_exceeded);
  EXPECT_EQ(breaker.forgotten, 1);
  EXPECT_TRUE(breaker.by_key.empty());
}

TEST_F(OriginDocumentsTest, a_download_counts_although_its_slot_cannot_be_given_back) {
  slots.keeps = true;
  EXPECT_EQ(get_now(instance()).source(), Source::origin);
  EXPECT_EQ(breaker.strangers().good, 1) << "and the breaker is told";
  breaker.deaf = true;
  const Reading& forced = refresh(instance("other"), true);
  pass(1s);
  EXPECT_EQ(forced.body(), "fetched 2");
  EXPECT_EQ(store.rows[path.text()].document->body, "fetched 2");
}

TEST_F(OriginDocumentsTest, a_missing_or_refused_document_does_not_count_against_the_origin) {
  store_copy("old", 2 * fresh_for);
  for (const FetchError error : {FetchError::missing, FetchError::refused}) {
    origin.error = error;
    refresh(instance(), true);
    pass(1s);
  }
  EXPECT_EQ(breaker.known().good, 2);
}

}  // namespace
}  // namespace sluice::documents
