#include "documents/origin_documents.h"

#include <gtest/gtest.h>

#include "documents/pretend_ports.h"
#include "runtime/virtual_clock.h"

namespace sluice::documents {
namespace {

constexpr Duration fresh_for = 24h;

struct Reading {
  std::optional<Lookup> lookup;
  bool engine_failed = false;
  Instant at{};

  bool served() const { return lookup && lookup->has_value(); }
  std::string body() const { return served() ? (*lookup)->document->body : ""; }
  std::optional<Source> source() const { return served() ? std::optional((*lookup)->source) : std::nullopt; }
  std::optional<Reason> degraded() const { return served() ? (*lookup)->degraded : std::nullopt; }
  std::optional<Reason> refused() const { return lookup && !*lookup ? lookup->error().reason : std::nullopt; }
};

struct OriginDocumentsTest : testing::Test {
  ~OriginDocumentsTest() override {
    readers.cancel();
    scope.cancel();
    context.restart();
    context.poll();
  }

  OriginDocuments& instance(const std::string& owner = "me") {
    OriginConfig config;
    config.name = "o";
    config.base_url = "http://127.0.0.1/";
    config.fresh_for = fresh_for;
    config.max_per_second = 1000;
    const OriginParts parts{store, static_copies, origin, slots, breaker, clock, random, owner};
    return *instances.emplace_back(std::make_unique<OriginDocuments>(config, parts, scope, context.get_executor()));
  }

  static Task<> note(Clock& clock, Task<Lookup> asked, Reading& reading) {
    try {
      reading.lookup = co_await std::move(asked);
    } catch (const EngineUnavailable&) {
      reading.engine_failed = true;
    }
    reading.at = clock.now();
  }
  static Task<> purge(OriginDocuments& documents, DocumentPath path) { co_await documents.purge(std::move(path)); }
  Reading& ask(Task<Lookup> asked, TaskScope& from) {
    Reading& reading = readings.emplace_back();
    from.spawn("reader", note(clock, std::move(asked), reading));
    return reading;
  }
  Reading& get(OriginDocuments& documents, bool fetch = true) { return ask(documents.get(path, fetch), readers); }
  Reading& refresh(OriginDocuments& documents, bool force) {
    RefreshRequest request{path, std::nullopt, force};
    return ask(documents.refresh(std::move(request)), readers);
  }
  void pass(Duration time) { clock.run(context, clock.now() + time); }
  Reading& get_now(OriginDocuments& documents) {
    Reading& reading = get(documents);
    pass(30s);
    return reading;
  }
  void store_copy(std::string body, Duration age) {
    store.rows[path.text()].document = make_document(std::move(body), clock.wall() - age);
  }

  asio::io_context context;
  VirtualClock clock;
  SeededRandom random{1};
  PretendStore store{clock};
  PretendStatic static_copies;
  PretendOrigin origin{clock};
  PretendSlots slots{clock};
  PretendBreaker breaker;
  const DocumentPath path = DocumentPath::parse("a/b.xml").value();
  TaskScope scope{context.get_executor()};
  std::vector<std::unique_ptr<OriginDocuments>> instances;
  std::deque<Reading> readings;
  TaskScope readers{context.get_executor()};
};

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
  EXPECT_EQ(breaker.good, 1);
  EXPECT_LT(store.polls, 20) << "the waiters of an instance ask once for all";
}

TEST_F(OriginDocumentsTest, the_nearest_copy_answers) {
  OriginDocuments& documents = instance();
  store_copy("stored", 1h);
  EXPECT_EQ(get_now(documents).source(), Source::database);
  EXPECT_EQ(get_now(documents).source(), Source::memory);
  EXPECT_TRUE(documents.in_memory(path));
  static_copies.copies[path.text()] = make_document("bundled", clock.wall());
  EXPECT_EQ(get_now(instance()).source(), Source::static_file);
  EXPECT_EQ(origin.asked, 0);
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

TEST_F(OriginDocumentsTest, who_joined_a_download_gives_up_after_the_wait_limit) {
  origin.latency = 9s;
  OriginDocuments& documents = instance();
  const Reading& starter = get(documents);
  pass(100ms);
  const Reading& joined = get(documents);
  const Reading& elsewhere = get(instance("other"));
  pass(30s);
  EXPECT_EQ(joined.refused(), Reason::download_timeout);
  EXPECT_EQ(joined.at - Instant{}, 6400ms);
  EXPECT_EQ(elsewhere.refused(), Reason::download_timeout);
  EXPECT_LE(elsewhere.at - Instant{}, 7s);
  EXPECT_EQ(starter.body(), "fetched 1");
}

// What keeps a document from being fetched, and the reason that readers are given.
struct Trouble {
  Reason reason;
  std::optional<FetchError> error{};
  bool breaker_open = false;
  bool slots_taken = false;

  friend void PrintTo(const Trouble& trouble, std::ostream* out) { *out << name(trouble.reason); }
};

struct TroubledOriginTest : OriginDocumentsTest, testing::WithParamInterface<Trouble> {
  void SetUp() override {
    origin.error = GetParam().error;
    breaker.open = GetParam().breaker_open;
    for (int i = 0; GetParam().slots_taken && i < 3; ++i) readers.spawn("other", occupy(slots));
    pass(0s);
  }
  static Task<> occupy(coordination::Slots& slots) { co_await slots.take("origin/o", 3, "other", 1h); }
};

TEST_P(TroubledOriginTest, a_reader_without_any_copy_is_told_why) {
  const Reading& reading = get_now(instance());
  EXPECT_EQ(reading.refused(), GetParam().reason);
  EXPECT_EQ(reading.lookup->error().kind, Refusal::unavailable);
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
                                         Trouble{Reason::origin_error, FetchError::gone},
                                         Trouble{Reason::download_timeout, FetchError::timeout},
                                         Trouble{Reason::invalid_content, FetchError::invalid},
                                         Trouble{Reason::invalid_content, FetchError::too_large},
                                         Trouble{.reason = Reason::breaker_open, .breaker_open = true},
                                         Trouble{.reason = Reason::rate_limit_exceeded, .slots_taken = true}));

TEST_F(OriginDocumentsTest, a_document_that_just_failed_is_held_down_and_answered_at_once) {
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
  for (int i = 0; i < 3; ++i) readers.spawn("other", TroubledOriginTest::occupy(slots));
  EXPECT_EQ(get_now(instance()).refused(), Reason::rate_limit_exceeded);
  EXPECT_EQ(breaker.forgotten, 1);
  EXPECT_EQ(breaker.good + breaker.bad, 0);
}

TEST_F(OriginDocumentsTest, an_answer_that_says_gone_does_not_count_against_the_origin) {
  origin.error = FetchError::gone;
  get_now(instance());
  EXPECT_EQ(breaker.good, 1);
}

TEST_F(OriginDocumentsTest, an_invalid_copy_is_passed_over_and_replaced) {
  const auto page = make_document("<html>error</html>", clock.wall());
  page->content_type = "text/html";
  store.rows[path.text()].document = page;
  static_copies.copies[path.text()] = page;
  const Reading& reading = get_now(instance());
  EXPECT_EQ(reading.body(), "fetched 1");
  EXPECT_EQ(store.rows[path.text()].document->body, "fetched 1");
}

TEST_F(OriginDocumentsTest, replacing_an_invalid_copy_is_tried_three_times_at_most) {
  const auto page = make_document("<html>error</html>", clock.wall());
  page->content_type = "text/html";
  store.rows[path.text()].document = page;
  store.always_cached = true;
  EXPECT_EQ(get_now(instance()).refused(), Reason::invalid_content);
  EXPECT_EQ(store.claims, 3);
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

TEST_F(OriginDocumentsTest, instances_learn_of_a_refresh_and_it_outranks_the_static_copy) {
  static_copies.copies[path.text()] = make_document("bundled", clock.wall());
  OriginDocuments& here = instance("here");
  OriginDocuments& there = instance("there");
  here.start();
  there.start();
  EXPECT_EQ(get_now(here).body(), "bundled");
  refresh(there, true);
  pass(6s);
  EXPECT_FALSE(here.in_memory(path));
  const Reading& here_now = get(here);
  const Reading& there_now = get(there);
  pass(0s);
  EXPECT_EQ(here_now.body(), "fetched 1");
  EXPECT_EQ(here_now.source(), Source::database);
  EXPECT_EQ(there_now.body(), "fetched 1");
}

TEST_F(OriginDocumentsTest, instances_learn_of_a_purge) {
  static_copies.copies[path.text()] = make_document("bundled", clock.wall());
  OriginDocuments& here = instance("here");
  OriginDocuments& there = instance("there");
  here.start();
  refresh(here, true);
  pass(6s);
  readers.spawn("purge", purge(there, path));
  pass(6s);
  EXPECT_EQ(get_now(here).body(), "bundled");
}

TEST_F(OriginDocumentsTest, a_copy_asked_for_before_a_change_was_learned_does_not_stay_in_memory) {
  store_copy("old", 1h);
  OriginDocuments& here = instance("here");
  here.start();
  pass(1s);
  store.find_takes = 10s;
  const Reading& slow = get(here);
  pass(100ms);
  refresh(instance("there"), true);
  pass(20s);
  EXPECT_EQ(slow.body(), "old");
  store.find_takes = 0s;
  EXPECT_EQ(get_now(here).body(), "fetched 1");
}

TEST_F(OriginDocumentsTest, without_the_database_a_copy_in_memory_is_served_however_old) {
  store_copy("stored", 1h);
  OriginDocuments& documents = instance();
  get_now(documents);
  store.down = true;
  EXPECT_EQ(get_now(documents).source(), Source::memory);
  pass(2 * fresh_for);
  for (Reading* const reading : {&get(documents), &refresh(documents, true)}) {
    pass(10s);
    EXPECT_EQ(reading->body(), "stored");
    EXPECT_EQ(reading->source(), Source::stale);
    EXPECT_TRUE(reading->degraded());
  }
  EXPECT_TRUE(get_now(instance("empty")).engine_failed);
}

TEST_F(OriginDocumentsTest, a_claim_is_kept_while_the_origin_takes_its_time) {
  origin.latency = 40s;
  const Reading& reading = get(instance());
  pass(1min);
  EXPECT_EQ(reading.body(), "fetched 1");
}

TEST_F(OriginDocumentsTest, an_owner_whose_claim_was_taken_over_stores_nothing) {
  store.renews = false;
  origin.latency = 20s;
  const Reading& slow = get(instance("slow"));
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
  EXPECT_EQ(slots.taken("origin/o"), 0);
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
  EXPECT_EQ(slots.taken("origin/o"), 0);
  for (const auto& [path, row] : store.rows) EXPECT_EQ(row.claim_until, Time{}) << path;
}

TEST_F(OriginDocumentsTest, an_old_copy_that_nobody_replaced_is_not_taken_for_the_new_one) {
  store_copy("old", 2 * fresh_for);
  store.rows[path.text()].claim_until = clock.wall() + 1s;  // another instance's, which gives up
  const Reading& reading = get(instance());
  pass(10s);
  EXPECT_EQ(reading.body(), "fetched 1");
}

TEST_F(OriginDocumentsTest, paths_that_are_not_allowed_are_not_found) {
  OriginConfig config;
  config.name = "o";
  config.allow = "other/*.xml";
  const OriginParts parts{store, static_copies, origin, slots, breaker, clock, random, "me"};
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
