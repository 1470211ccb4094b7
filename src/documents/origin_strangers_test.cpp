// Requests of any caller for paths that never gave a document.
#include "documents/stranger_failures.h"
#include "documents/testing/origin_documents_fixture.h"

namespace sluice::documents {
namespace {

struct StrangersTest : OriginDocumentsTest {
  static OriginConfig few_strangers() {
    OriginConfig config = often();
    config.strangers_per_second = 2;
    return config;
  }
  OriginDocuments& careful_instance() {
    const OriginParts parts{store, static_copies, origin, slots, few, breaker, clock, random, "me"};
    return *instances.emplace_back(
        std::make_unique<OriginDocuments>(few_strangers(), parts, scope, context.get_executor()));
  }
  static std::string invented(int number) { return "invented/" + std::to_string(number) + ".xml"; }

  coordination::PretendLimit few{rate_plan(few_strangers()), clock};
};

struct InventedPaths : StrangersTest, testing::WithParamInterface<FetchError> {};

TEST_P(InventedPaths, a_thousand_of_them_do_not_hurt_a_known_document) {
  origin.latency = 50ms;
  origin.unknown = GetParam();
  store_copy("old", 2 * fresh_for);
  OriginDocuments& documents = careful_instance();
  for (int i = 0; i < 1000; ++i) {
    get_path(documents, invented(i));
    pass(10ms);
    if (i % 100 != 99) continue;
    const Reading& known = refresh(documents, true);
    pass(100ms);
    ASSERT_TRUE(known.served()) << "it need not wait for strangers";
    EXPECT_FALSE(known.degraded());
    EXPECT_TRUE(known.body().starts_with("fetched"));
  }
  pass(30s);
  for (const Reading& reading : readings) EXPECT_TRUE(reading.lookup);
  EXPECT_EQ(breaker.known().bad, 0);
  EXPECT_EQ(breaker.known().good, 10);
  EXPECT_LE(origin.asked, 10 + 2 * 20) << "strangers keep to their rate";
  EXPECT_LE(origin.highest, 2) << "and to one slot";
  ASSERT_EQ(store.rows.size(), 1U) << "and leave no row";
  EXPECT_TRUE(store.rows.contains(path.text()));
}

INSTANTIATE_TEST_SUITE_P(Answers, InventedPaths,
                         testing::Values(FetchError::missing, FetchError::failed, FetchError::invalid,
                                         FetchError::timeout));

TEST_F(StrangersTest, only_silence_and_5xx_count_for_their_breaker) {
  OriginDocuments& documents = instance();
  int number = 0;
  for (const FetchError error :
       {FetchError::missing, FetchError::throttled, FetchError::refused, FetchError::too_large, FetchError::invalid}) {
    origin.error = error;
    get_path(documents, invented(++number));
    pass(1s);
  }
  EXPECT_EQ(breaker.strangers().good, 5);
  EXPECT_EQ(breaker.strangers().bad, 0);
  for (const FetchError error : {FetchError::timeout, FetchError::failed}) {
    origin.error = error;
    get_path(documents, invented(++number));
    pass(1s);
  }
  EXPECT_EQ(breaker.strangers().bad, 2);
  EXPECT_EQ(breaker.by_key.size(), 1U);
}

TEST_F(StrangersTest, beyond_their_rate_they_are_refused_at_once_and_claim_nothing) {
  OriginDocuments& documents = careful_instance();
  for (int i = 0; i < 50; ++i) get_path(documents, invented(i));
  pass(0s);
  const int claims = store.claims;
  const Reading& late = get_path(documents, "one/more.xml");
  pass(0s);
  EXPECT_TRUE(late.is(Refusal::too_many));
  EXPECT_LE(claims, 20);
  EXPECT_EQ(store.claims, claims);
}

TEST_F(StrangersTest, what_failed_is_answered_from_memory_until_the_hold_down_is_over) {
  OriginDocuments& documents = instance();
  origin.error = FetchError::missing;
  get(documents);
  pass(1s);
  const Reading& missing = get(documents);
  pass(0s);
  EXPECT_TRUE(missing.is(Refusal::not_found));
  origin.error = FetchError::failed;
  get_path(documents, "other.xml");
  pass(1s);
  const Reading& failing = get_path(documents, "other.xml");
  pass(0s);
  EXPECT_EQ(failing.refused(), Reason::hold_down);
  EXPECT_EQ(origin.asked, 2);
  origin.error.reset();
  pass(5s);
  EXPECT_EQ(get_now(documents).body(), "fetched 3");
}

TEST_F(StrangersTest, a_forced_refresh_does_not_heed_what_failed_before) {
  OriginDocuments& documents = instance();
  origin.error = FetchError::missing;
  get(documents);
  pass(1s);
  origin.error.reset();
  const Reading& forced = refresh(documents, true);
  pass(1s);
  EXPECT_EQ(forced.body(), "fetched 2");
}

TEST_F(StrangersTest, a_shipped_a_stored_and_a_listed_document_are_known) {
  OriginDocuments& documents = instance();
  static_copies.copies["shipped.xml"] = make_document("bundled", clock.wall());
  store.rows["stored.xml"].document = make_document("old", clock.wall() - 2 * fresh_for);
  store.rows["listed.xml"].listed = true;
  for (const std::string one : {"shipped.xml", "stored.xml", "listed.xml"}) {
    RefreshRequest request{.path = DocumentPath::parse(one).value(), .force = true};
    ask(documents.refresh(std::move(request)), readers);
    pass(1s);
  }
  EXPECT_EQ(breaker.known().good, 3);
  EXPECT_EQ(breaker.strangers().good, 0);
}

TEST_F(StrangersTest, one_that_was_stored_is_known_from_then_on) {
  OriginDocuments& documents = instance();
  get_now(documents);
  EXPECT_EQ(breaker.strangers().good, 1);
  refresh(documents, true);
  pass(1s);
  EXPECT_EQ(breaker.known().good, 1);
}

TEST(StrangerFailures, are_bounded_and_end) {
  VirtualClock clock;
  StrangerFailures failures(clock, 5s, 3);
  for (const std::string path : {"a", "b", "c", "d"}) failures.add(path, {Refusal::not_found, Reason::origin_error});
  EXPECT_EQ(failures.size(), 3U);
  EXPECT_FALSE(failures.find("a")) << "the oldest went";
  EXPECT_EQ(failures.find("d")->kind, Refusal::not_found);
  failures.erase("d");
  EXPECT_FALSE(failures.find("d"));
  asio::io_context context;
  clock.run(context, clock.now() + 5s);
  EXPECT_FALSE(failures.find("b"));
  EXPECT_EQ(failures.size(), 0U);
}

}  // namespace
}  // namespace sluice::documents
