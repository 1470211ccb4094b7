#include "documents/documents.h"
#include "documents/testing/origin_documents_fixture.h"

namespace sluice::documents {
namespace {

uint64_t coalesced() {
  static constexpr std::string_view line = "\ndocument_coalesced_total{origin=\"o\"} ";
  const std::string exposed = metrics::expose();
  const size_t found = exposed.find(line);
  return found == std::string::npos ? 0 : std::stoull(exposed.substr(found + line.size()));
}

TEST_F(OriginDocumentsTest, one_download_serves_all_readers_of_all_instances) {
  for (const std::string owner : {"a", "b", "c"}) {
    OriginDocuments& documents = instance(owner);
    for (int i = 0; i < 100; ++i) get(documents);
  }
  pass(10s);
  EXPECT_EQ(origin.asked, 1);
  for (const Reading& reading : readings) {
    EXPECT_EQ(reading.body(), "fetched 1");
    EXPECT_FALSE(reading.degraded());
    EXPECT_LT(reading.at - Instant{}, 1s);
  }
  EXPECT_EQ(breaker.strangers().good, 1);
  EXPECT_LT(store.polls, 20) << "the waiters of an instance ask once for all";
}

TEST_F(OriginDocumentsTest, who_shares_a_lookup_or_a_download_is_counted) {
  OriginDocuments& documents = instance();
  store.find_takes = 10ms;
  const uint64_t before = coalesced();
  for (int i = 0; i < 3; ++i) get(documents, false);
  pass(1s);
  EXPECT_EQ(coalesced() - before, 2U) << "one looked for a copy";
  get(documents);
  pass(100ms);
  for (int i = 0; i < 2; ++i) get(documents);
  pass(1s);
  EXPECT_EQ(coalesced() - before, 4U) << "and one downloaded it";
}

TEST_F(OriginDocumentsTest, a_miss_is_not_fetched_where_nobody_asked_for_that) {
  Reading& reading = get(instance(), false);
  pass(1s);
  EXPECT_FALSE(reading.served());
  EXPECT_EQ(reading.lookup->error().kind, Refusal::not_found);
  EXPECT_EQ(origin.asked, 0);
}

TEST_F(OriginDocumentsTest, the_reader_who_started_it_hangs_up_and_the_others_still_get_it) {
  OriginDocuments& documents = instance();
  TaskScope starter(context.get_executor());
  const Reading& gone = ask(documents.get(path, true), starter);
  pass(100ms);
  const Reading& other = get(documents);
  pass(100ms);
  starter.cancel();
  pass(10s);
  EXPECT_FALSE(gone.lookup);
  EXPECT_EQ(other.body(), "fetched 1");
  EXPECT_EQ(origin.asked, 1);
}

TEST_F(OriginDocumentsTest, a_reader_gives_up_after_the_wait_limit_and_the_download_goes_on) {
  origin.latency = 9s;
  OriginDocuments& documents = instance();
  const Reading& starter = get(documents);
  pass(100ms);
  const Reading& joined = get(documents);
  const Reading& elsewhere = get(instance("other"));
  pass(30s);
  EXPECT_EQ(starter.refused(), Reason::download_timeout);
  EXPECT_EQ(starter.at - Instant{}, 6300ms);
  EXPECT_EQ(joined.refused(), Reason::download_timeout);
  EXPECT_EQ(joined.at - Instant{}, 6400ms);
  EXPECT_EQ(elsewhere.refused(), Reason::download_timeout);
  EXPECT_LE(elsewhere.at - Instant{}, 7s);
  EXPECT_EQ(get_now(documents).body(), "fetched 1");
}

TEST_F(OriginDocumentsTest, a_stale_copy_is_the_answer_when_the_deadline_comes_first) {
  store_copy("old", 2 * fresh_for);
  origin.latency = 9s;
  const Reading& reading = ask(instance().get(path, true, Deadline::after(clock, 5s)), readers);
  pass(30s);
  EXPECT_EQ(reading.body(), "old");
  EXPECT_EQ(reading.degraded(), Reason::download_timeout);
  EXPECT_LT(reading.at - Instant{}, 5s);
}

TEST_F(OriginDocumentsTest, a_database_that_does_not_answer_by_the_deadline_leaves_the_copy_in_memory) {
  store_copy("old", fresh_for - 1h);
  OriginDocuments& documents = instance();
  get_now(documents);
  pass(2h);
  store.find_takes = 1min;
  const Reading& reading = ask(documents.get(path, true, Deadline::after(clock, 5s)), readers);
  const Reading& nothing = ask(instance("empty").get(path, true, Deadline::after(clock, 5s)), readers);
  const Instant asked = clock.now();
  pass(2min);
  EXPECT_EQ(reading.body(), "old");
  EXPECT_EQ(reading.source(), Source::stale);
  EXPECT_LT(reading.at - asked, 5s);
  EXPECT_LT(nothing.at - asked, 5s);
}

TEST_F(OriginDocumentsTest, a_forced_download_does_not_join_an_ordinary_one) {
  OriginDocuments& documents = instance();
  const Reading& ordinary = get(documents);
  pass(100ms);
  const Reading& forced = refresh(documents, true);
  const Reading& same = refresh(documents, true);
  pass(30s);
  EXPECT_EQ(ordinary.body(), "fetched 1");
  EXPECT_EQ(forced.body(), "fetched 2");
  EXPECT_EQ(same.body(), "fetched 2");
  EXPECT_EQ(origin.asked, 2);
}

TEST_F(OriginDocumentsTest, a_refresh_downloads_only_where_no_fresh_copy_is) {
  store_copy("stored", 1h);
  OriginDocuments& documents = instance();
  const Reading& unneeded = refresh(documents, false);
  pass(10s);
  EXPECT_EQ(unneeded.body(), "stored");
  EXPECT_TRUE((*unneeded.lookup)->from_cache);
  const Reading& forced = refresh(documents, true);
  pass(10s);
  EXPECT_EQ(forced.body(), "fetched 1");
  EXPECT_FALSE((*forced.lookup)->from_cache);
}

TEST_F(OriginDocumentsTest, a_claim_is_kept_while_the_origin_takes_its_time) {
  origin.latency = 40s;
  OriginDocuments& documents = instance();
  get(documents);
  pass(1min);
  EXPECT_EQ(get_now(documents).body(), "fetched 1");
  EXPECT_EQ(origin.asked, 1);
}

TEST_F(OriginDocumentsTest, an_owner_whose_claim_was_taken_over_stores_nothing) {
  store.renews = false;
  origin.latency = 20s;
  RefreshRequest patient{.path = path, .wait_limit = 1min};
  const Reading& slow = ask(instance("slow").refresh(std::move(patient)), readers);
  pass(16s);
  origin.latency = 1s;
  const Reading& next = get(instance("next"));
  pass(1min);
  EXPECT_EQ(next.body(), "fetched 2");
  EXPECT_EQ(store.rows[path.text()].document->body, "fetched 2");
  EXPECT_EQ(slow.degraded(), Reason::download_timeout);
}

TEST_F(OriginDocumentsTest, a_server_that_stops_gives_back_what_its_downloads_held) {
  origin.latency = 9s;
  get(instance());
  pass(1s);
  EXPECT_EQ(store.rows[path.text()].claim_until, clock.wall() + 14s);
  scope.cancel();
  pass(0s);
  EXPECT_EQ(scope.running(), 0U);
  EXPECT_EQ(store.rows[path.text()].claim_until, Time{});
  EXPECT_EQ(breaker.forgotten, 1);
  EXPECT_EQ(slots.taken(), 0);
}

// A step was done in the database when the server is told to stop, and its result has not been looked at yet.
TEST_F(OriginDocumentsTest, a_server_that_stops_between_two_steps_gives_back_what_it_has) {
  OriginConfig config;
  config.name = "o";
  for (std::function<void()>* const moment : {&store.after_claim, &breaker.after_ask, &slots.after_take}) {
    TaskScope stopping(context.get_executor());
    *moment = [&stopping] { stopping.cancel(); };
    const OriginParts parts{store, static_copies, origin, slots, limit, breaker, clock, random, "me"};
    OriginDocuments documents(config, parts, stopping, context.get_executor());
    get(documents);
    pass(100ms);
    *moment = nullptr;
    EXPECT_EQ(stopping.running(), 0U);
    EXPECT_EQ(store.rows[path.text()].claim_until, Time{});
    EXPECT_EQ(slots.taken(), 0);
  }
  EXPECT_EQ(store.claims, 3);
  EXPECT_EQ(breaker.forgotten, 2) << "the first was stopped before it asked";
  EXPECT_EQ(origin.asked, 0);
}

TEST_F(OriginDocumentsTest, a_server_that_stops_waits_for_nobodys_slot) {
  origin.latency = 1h;
  OriginDocuments& documents = instance();
  for (const std::string one : {"1.xml", "2.xml", "3.xml", "4.xml"}) {
    ask(documents.get(DocumentPath::parse(one).value(), true), readers);
  }
  pass(1s);
  scope.cancel();
  pass(0s);
  EXPECT_EQ(scope.running(), 0U);
  EXPECT_EQ(slots.taken(), 0);
  for (const auto& [path, row] : store.rows) EXPECT_EQ(row.claim_until, Time{}) << path;
}

TEST_F(OriginDocumentsTest, an_old_copy_that_nobody_replaced_is_not_taken_for_the_new_one) {
  store_copy("old", 2 * fresh_for);
  store.rows[path.text()].claim_until = clock.wall() + 1s;  // another instance's, which gives up
  const Reading& reading = get(instance());
  pass(10s);
  EXPECT_EQ(reading.body(), "fetched 1");
}

TEST_F(OriginDocumentsTest, expired_claims_of_all_origins_are_swept_at_once) {
  Offload form_threads("forms", 1, 10);
  Documents documents(store, clock, random, scope, context.get_executor(), form_threads);
  const OriginParts parts{store, static_copies, origin, slots, limit, breaker, clock, random, "me"};
  for (const auto& [name, claim_ttl] : {std::pair("slow", 60s), std::pair("quick", 10s), std::pair("other", 60s)}) {
    OriginConfig config = often();
    config.name = name;
    config.claim_ttl = claim_ttl;
    documents.add(config, parts);
  }
  documents.start();
  pass(35s);
  EXPECT_EQ(store.sweeps, 4);
  scope.cancel();
  pass(0s);
}

TEST_F(OriginDocumentsTest, paths_that_are_not_allowed_are_not_found) {
  OriginConfig config;
  config.name = "o";
  config.allow = "other/*.xml";
  const OriginParts parts{store, static_copies, origin, slots, limit, breaker, clock, random, "me"};
  OriginDocuments documents(config, parts, scope, context.get_executor());
  const Reading& read = get(documents);
  const Reading& forced = refresh(documents, true);
  pass(1s);
  EXPECT_EQ(read.lookup->error().kind, Refusal::not_found);
  EXPECT_EQ(forced.lookup->error().kind, Refusal::not_found);
  EXPECT_EQ(store.claims, 0);
}

}  // namespace
}  // namespace sluice::documents
