// Bookmarked links enriched by real servers from the simulated web, on each database.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <simdjson.h>

#include "adapters/sql/jobs/sql_job_store.h"
#include "adapters/sql/links/sql_blocked_domains.h"
#include "adapters/sql/links/sql_import_store.h"
#include "adapters/sql/links/sql_link_store.h"
#include "links/enrichment_job.h"
#include "runtime/system_clock.h"
#include "server/blocking.h"
#include "server/engines.h"
#include "tests/scenario/one_server.h"
#include "tests/support/lab_web.h"
#include "tests/support/needs.h"
#include "tests/support/scripted_server.h"

namespace sluice::test {
namespace {

using links::FailureReason;
using links::Import;
using links::OwnedLink;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Le;
using testing::UnorderedElementsAre;

// The view of an importer and of an operator, beside the servers.
struct Desk {
  explicit Desk(const std::string& config)
      : loaded(server::load_settings({config, {}})),
        engines(loaded->settings, {server::Service::jobs}, clock, server::Engines::Access::beside_owner),
        kinds(loaded->settings.jobs.kinds),
        imports(engines.of(server::Service::jobs), kinds, clock, random),
        links(engines.of(server::Service::jobs)),
        blocked_domains(engines.of(server::Service::jobs)),
        jobs(engines.of(server::Service::jobs), kinds, clock, random) {}

  template <class Value>
  Value run(Task<Value> task) {
    return server::run_blocking(here, std::move(task));
  }

  asio::io_context here;
  SystemClock clock;
  SeededRandom random{std::random_device{}()};
  std::unique_ptr<server::LoadedSettings> loaded;
  server::Engines engines;
  jobs::JobKinds kinds;
  sql::SqlImportStore imports;
  sql::SqlLinkStore links;
  sql::SqlBlockedDomains blocked_domains;
  sql::SqlJobStore jobs;
};

class EnrichmentScenario : public OneServer, public testing::TestWithParam<std::string> {
 protected:
  using Sites = std::vector<std::pair<std::string, std::string>>;  // host and target
  using Reasons = std::map<Sites::value_type, std::string>;        // why each of them fails

  void SetUp() override {
    if (GetParam() == "pgbouncer") {
      SLUICE_NEEDS(PgBouncerServer::why_missing());
    }
  }
  void begin(const std::string& more = "", std::vector<std::string> web_flags = {}) {
    web_.emplace(std::move(web_flags));
    start_server(GetParam() == "sqlite" ? Records::sqlite : Records::pgbouncer,
                 "[links]\nallow_loopback = true\ntimeout = \"" + timeout_ +
                     "\"\n"
                     "[jobs.kinds.enrich_link]\nbackoff = [\"100ms\"]\n" +
                     more);
    desk_.emplace(config_);
  }
  void TearDown() override {
    desk_.reset();
    stop_server();
  }

  void import(const Sites& sites) {
    owner_ = links::OwnerId::make(desk_->clock.wall(), desk_->random);
    import_ = links::ImportId::make(desk_->clock.wall(), desk_->random);
    std::vector<links::Bookmark> bookmarks;
    for (const auto& [host, target] : sites) {
      bookmarks.push_back({.folder = "", .title = host, .url = *links::CanonicalUrl::parse(web_->url(host, target))});
    }
    desk_->run(desk_->imports.begin(import_, owner_));
    ASSERT_TRUE(desk_->run(desk_->imports.add(import_, std::move(bookmarks))));
    ASSERT_TRUE(desk_->run(desk_->imports.end_reading(import_, {})));
  }
  Import progress() { return desk_->run(desk_->imports.find(import_, owner_)).value(); }
  // As it is when `done`; what waits for it looks every now and then, as a person would.
  Import wait(const std::function<bool(const Import&)>& done, Duration most = 2min) {
    const Instant end = desk_->clock.now() + most;
    Import import = progress();
    while (!done(import) && desk_->clock.now() < end) {
      desk_->run(desk_->clock.sleep_for(20ms));
      import = progress();
    }
    EXPECT_TRUE(done(import)) << import.processed_items << " of " << import.total_items << '\n'
                              << server_->process().output();
    return import;
  }
  Import wait_for_end() { return wait(&Import::ended); }

  std::map<std::string, OwnedLink> links() {
    std::map<std::string, OwnedLink> found;
    for (OwnedLink& link : desk_->run(desk_->links.list(owner_, std::nullopt, std::nullopt, 1'000)).links) {
      found.emplace(link.url, link);
    }
    return found;
  }
  // The title, or the reason of the failure.
  std::string outcome(const std::string& host, const std::string& target) {
    const OwnedLink link = links().at(links::CanonicalUrl::parse(web_->url(host, target))->text());
    if (link.failure) return std::string(enum_name(*link.failure));
    return link.fetched_at ? link.facts.title : "waits";
  }
  jobs::Job job(const std::string& host, const std::string& target) {
    const auto link = *links::CanonicalUrl::parse(web_->url(host, target));
    for (const jobs::Job& one : desk_->run(desk_->jobs.list({}, std::nullopt, 1'000)).jobs) {
      if (links::parse_enrichment_payload(one.payload).value().link == link)
        return desk_->run(desk_->jobs.find(one.id)).value();
    }
    throw std::runtime_error("no job has " + link.text());
  }
  // A link is settled a moment before its job is.
  jobs::Job ended_job(const std::string& host, const std::string& target) {
    const Instant end = desk_->clock.now() + 1min;
    jobs::Job found = job(host, target);
    while (!found.finished_at && desk_->clock.now() < end) found = job(host, target);
    return found;
  }

  // Imported together, each of them fails for its reason and is dead after so many tries.
  void expect_dead_after(int attempts, const Reasons& reasons) {
    Sites all;
    for (const auto& [site, reason] : reasons) all.push_back(site);
    import(all);
    EXPECT_EQ(wait_for_end().failed_items, static_cast<int64_t>(reasons.size()));
    for (const auto& [site, reason] : reasons) {
      EXPECT_EQ(outcome(site.first, site.second), reason) << site.first << site.second;
      const jobs::Job dead = ended_job(site.first, site.second);
      EXPECT_EQ(dead.status, jobs::JobStatus::dead);
      EXPECT_EQ(dead.attempts, attempts);
      EXPECT_EQ(dead.history.size(), static_cast<size_t>(attempts));
      EXPECT_THAT(dead.last_error.value_or(""), HasSubstr(reason + ": "));
    }
  }
  uint64_t web_count(const std::string& host, const char* what) {
    const RawResponse stats = RawClient(web_->port()).get("/lab/stats");
    uint64_t count = 0;
    const auto document = parser_.parse(stats.body);
    return document["byHost"][host][what].get(count) == simdjson::SUCCESS ? count : 0;
  }

  // What the server counts once `line` is there: the import ends a moment before the last job is counted.
  std::string metrics_with(const std::string& line) {
    const Instant end = desk_->clock.now() + 1min;
    std::string counted = RawClient(server_->port()).get("/metrics").body;
    while (!counted.contains(line + "\n") && desk_->clock.now() < end) {
      counted = RawClient(server_->port()).get("/metrics").body;
    }
    return counted;
  }

  std::string timeout_ = "5m";  // of a visit; short only where it has to pass
  std::optional<LabWeb> web_;
  std::optional<Desk> desk_;
  links::OwnerId owner_;
  links::ImportId import_;
  simdjson::dom::parser parser_;
};

TEST_P(EnrichmentScenario, pages_give_their_facts_however_they_are_written_and_reached) {
  begin();
  import({{"news.test", "/articles/1"},
          {"korea.test", "/euc-kr/header"},
          {"korea.test", "/euc-kr/meta"},
          {"korea.test", "/euc-kr/none"},
          {"hop.test", "/redirect/3"},
          {"big.test", "/endless"},
          {"pictures.test", "/picture"}});
  const Import ended = wait_for_end();
  EXPECT_EQ(ended.status, links::ImportStatus::succeeded);
  EXPECT_EQ(ended.processed_items, 7);
  EXPECT_EQ(ended.failed_items, 0);

  const OwnedLink article = links().at(web_->url("news.test", "/articles/1"));
  EXPECT_EQ(article.facts.title, "/articles/1 at news.test");
  EXPECT_EQ(article.facts.description, "About /articles/1 at news.test");
  EXPECT_EQ(article.facts.icon_url, web_->url("news.test", "/favicon.ico"));
  for (const char* target : {"/euc-kr/header", "/euc-kr/meta", "/euc-kr/none"}) {
    EXPECT_EQ(outcome("korea.test", target), "한글 제목") << target;
  }
  EXPECT_EQ(outcome("hop.test", "/redirect/3"), "/landed at hop.test");
  EXPECT_EQ(outcome("big.test", "/endless"), "Endless");
  EXPECT_EQ(outcome("pictures.test", "/picture"), "");
  EXPECT_EQ(ended_job("news.test", "/articles/1").status, jobs::JobStatus::succeeded);
}

TEST_P(EnrichmentScenario, what_a_site_forbids_is_dead_at_once) {
  begin();
  const Reasons reasons{{{"closed.test", "/x"}, "robots"},
                        {{"polite.test", "/private/x"}, "robots"},
                        {{"captcha.test", "/x"}, "captcha"}};
  expect_dead_after(1, reasons);
  std::set<std::string> blamed;
  for (const auto& one : desk_->run(desk_->blocked_domains.candidates(100))) blamed.insert(one.domain);
  EXPECT_THAT(blamed, UnorderedElementsAre("captcha.test", "closed.test", "polite.test"));
  const CommandResult shown = sluice({"jobs", "blocked"});
  EXPECT_EQ(shown.code, 0) << shown.output;
  EXPECT_THAT(shown.output, testing::ContainsRegex("captcha.test +1 .*captcha 1"));
}

TEST_P(EnrichmentScenario, ordinary_failures_are_tried_again_and_settle_the_link_with_the_last) {
  begin();
  const Reasons reasons{{{"down.test", "/x"}, "unavailable"},       {{"old.test", "/status/410"}, "gone"},
                        {{"hop.test", "/redirect/9"}, "bad-link"},  {{"round.test", "/loop"}, "bad-link"},
                        {{"trap.test", "/to-private"}, "bad-link"}, {{"trap.test", "/to-metadata"}, "bad-link"},
                        {{"trap.test", "/to-file"}, "bad-link"},    {{"busy.test", "/status/429"}, "rate-limited"},
                        {{"half.test", "/broken"}, "unreachable"}};
  expect_dead_after(2, reasons);
  EXPECT_TRUE(desk_->run(desk_->blocked_domains.candidates(100)).empty());
}

TEST_P(EnrichmentScenario, sites_that_never_answer_are_tried_again_and_settle_the_link_with_the_last) {
  timeout_ = "1s";
  begin();
  expect_dead_after(2, {{{"slow.test", "/stall"}, "unreachable"}, {{"stall.test", "/x"}, "unreachable"}});
  EXPECT_TRUE(desk_->run(desk_->blocked_domains.candidates(100)).empty());
}

TEST_P(EnrichmentScenario, a_domain_that_answers_403_again_and_again_is_not_tried_again) {
  begin();
  import({{"forbidden.test", "/1"}, {"forbidden.test", "/2"}, {"forbidden.test", "/3"}, {"forbidden.test", "/4"}});
  EXPECT_EQ(wait_for_end().failed_items, 4);
  std::vector<int32_t> attempts;
  for (const char* target : {"/1", "/2", "/3", "/4"}) {
    EXPECT_EQ(outcome("forbidden.test", target), "forbidden");
    attempts.push_back(ended_job("forbidden.test", target).attempts);
  }
  EXPECT_THAT(attempts, Contains(1));
  const auto blamed = desk_->run(desk_->blocked_domains.candidates(100));
  ASSERT_EQ(blamed.size(), 1U);
  EXPECT_GE(blamed[0].reasons.at(FailureReason::forbidden), 4);
}

TEST_P(EnrichmentScenario, failures_are_logged_counted_and_told_to_sentry_with_their_history) {
  ScriptedServer sentry(
      [](const auto&) { return ScriptedServer::Reply{.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"}; });
  const std::string dsn = write("dsn", fmt::format("http://key@127.0.0.1:{}/1", sentry.port()));
  begin(fmt::format("[errors]\ndsn_file = \"{}\"\n", dsn));
  import({{"down.test", "/x?q=secret"}, {"news.test", "/y"}});
  wait_for_end();
  const Instant end = desk_->clock.now() + 1min;
  while (sentry.requests().size() < 2 && desk_->clock.now() < end) desk_->run(desk_->clock.sleep_for(10ms));
  EXPECT_THAT(sentry.requests(), Contains(AllOf(HasSubstr(R"("type":"enrich_link failed")"), HasSubstr("warning"))));
  EXPECT_THAT(sentry.requests(),
              Contains(AllOf(HasSubstr(R"("type":"enrich_link is dead")"), HasSubstr("attempt 1"),
                             HasSubstr("attempt 2"), HasSubstr("503"), HasSubstr(R"("domain":"down.test")"))));
  for (const std::string& told : sentry.requests()) EXPECT_FALSE(told.contains("secret"));

  for (const char* line :
       {"job_claimed_total 3", R"(job_duration_seconds_count{kind="enrich_link",outcome="succeeded"} 1)",
        R"(job_duration_seconds_count{kind="enrich_link",outcome="dead"} 1)",
        R"(link_visits_total{outcome="enriched"} 1)", R"(link_visits_total{outcome="unavailable"} 2)"}) {
    EXPECT_THAT(metrics_with(line), HasSubstr(line));
  }
  desk_.reset();
  EXPECT_EQ(server_->stop(), 0);
  const std::string log = server_->process().output();
  EXPECT_THAT(log, AllOf(HasSubstr("batch_claimed_count"), HasSubstr("job_duration_ms"), HasSubstr("success_count"),
                         HasSubstr("fail_count"), HasSubstr(R"("failing_domains":"down.test 1")")));
  server_.reset();
}

TEST_P(EnrichmentScenario, one_slow_domain_does_not_slow_the_others) {
  begin("[jobs.workers]\ndrain = \"10ms\"\n");
  Sites sites;
  for (int i = 0; i < 20; ++i) sites.emplace_back("slow.test", fmt::format("/stall/{}", i));
  for (int i = 0; i < 40; ++i) sites.emplace_back(fmt::format("site{}.test", i), "/x");
  import(sites);
  // None of the slow ones has to end for that.
  wait([](const Import& import) { return import.processed_items - import.failed_items == 40; });
  EXPECT_EQ(progress().failed_items, 0);
}

TEST_P(EnrichmentScenario, a_job_cut_off_by_a_stop_in_order_is_handed_back_with_all_its_tries) {
  begin("[jobs.workers]\ndrain = \"10ms\"\n");
  import({{"slow.test", "/stall"}});
  const Instant end = desk_->clock.now() + 1min;
  while (web_count("slow.test", "inFlight") == 0 && desk_->clock.now() < end) {
    desk_->run(desk_->clock.sleep_for(10ms));
  }
  EXPECT_EQ(server_->stop(), 0);
  const jobs::Job released = job("slow.test", "/stall");
  EXPECT_EQ(released.status, jobs::JobStatus::failed);
  EXPECT_EQ(released.attempts, 0);
  EXPECT_EQ(released.last_error, "its worker was stopped");
  desk_.reset();
  server_.reset();
}

TEST_P(EnrichmentScenario, no_domain_is_asked_by_more_than_two_at_once_over_three_servers) {
  if (GetParam() == "sqlite") GTEST_SKIP() << "one process owns the file";
  begin("", {"--latency", "20ms"});
  SluiceServer second({.config = config_});
  SluiceServer third({.config = config_});
  Sites sites;
  for (int i = 0; i < 300; ++i) sites.emplace_back(fmt::format("site{}.test", i % 5), fmt::format("/{}", i));
  import(sites);
  EXPECT_EQ(wait_for_end().failed_items, 0);
  for (int i = 0; i < 5; ++i) {
    const std::string host = fmt::format("site{}.test", i);
    EXPECT_EQ(web_count(host, "requests"), 60U);
    EXPECT_EQ(web_count(host, "maxConcurrency"), 2U) << host;
    EXPECT_THAT(web_count(host + "/robots.txt", "requests"), Le(3U));  // once for each process
  }
  EXPECT_EQ(second.stop(), 0);
  EXPECT_EQ(third.stop(), 0);
}

TEST_P(EnrichmentScenario, a_domain_that_others_redirect_to_is_asked_by_no_more_than_two_over_three_servers) {
  const bool alone = GetParam() == "sqlite";
  begin("", {"--latency", "20ms"});
  std::vector<std::unique_ptr<SluiceServer>> others;
  for (int i = 0; i < (alone ? 0 : 2); ++i) {
    others.push_back(std::make_unique<SluiceServer>(SluiceOptions{.config = config_}));
  }
  Sites sites;
  for (int i = 0; i < 60; ++i) {
    sites.emplace_back(fmt::format("short{}.test", i % 20), "/to?" + web_->url("target.test", fmt::format("/{}", i)));
  }
  import(sites);
  EXPECT_EQ(wait_for_end().failed_items, 0);
  EXPECT_EQ(web_count("target.test", "requests"), 60U);
  EXPECT_EQ(web_count("target.test", "maxConcurrency"), 2U);
  EXPECT_EQ(outcome(sites[7].first, sites[7].second), "/7 at target.test");
  const jobs::Job moved = ended_job(sites[7].first, sites[7].second);
  EXPECT_EQ(moved.throttle_key, "target.test");
  EXPECT_EQ(moved.attempts, 1);
  for (const auto& other : others) EXPECT_EQ(other->stop(), 0);
}

TEST_P(EnrichmentScenario, other_processes_hear_of_new_jobs) {
  if (GetParam() == "sqlite") GTEST_SKIP() << "there is no other process";
  begin();
  std::atomic<int> heard = 0;
  const auto news = desk_->engines.news(server::Service::jobs, "job_service", [&heard] { ++heard; }, desk_->random);
  const auto wait_until_heard = [&](int times) {
    const Instant end = desk_->clock.now() + 1min;
    while (heard < times && desk_->clock.now() < end) desk_->run(desk_->clock.sleep_for(1ms));
  };
  wait_until_heard(1);  // it listens
  key_ = make_key("SERVICE");
  EXPECT_EQ(ask("POST", "/api/v1/jobs", R"({"jobs":[{"kind":"mail","payload":1}]})").status, 201);
  wait_until_heard(2);
  EXPECT_EQ(heard, 2);
}

INSTANTIATE_TEST_SUITE_P(, EnrichmentScenario, testing::Values("sqlite", "pgbouncer"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sluice::test
