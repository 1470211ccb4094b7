#include "flows/enrichment.h"

#include <gtest/gtest.h>

#include "flows/testing/pretend_imports.h"
#include "links/enrichment_job.h"
#include "links/testing/pretend_blocked_domains.h"
#include "runtime/virtual_clock.h"

namespace sluice::flows {
namespace {

using jobs::JobOutcome;
using links::FailureReason;
using links::Import;
using links::LinkFailure;
using links::LinkId;
using links::PageFacts;

// Records how links ended; it has none to list.
struct LinkEnds : links::LinkStore {
  Task<std::vector<Import>> enriched(LinkId link, PageFacts facts) override {
    if (away) throw EngineUnavailable("database", "away");
    titles[link] = facts.title;
    co_return std::vector<Import>(1);
  }
  Task<std::vector<Import>> failed(LinkId link, FailureReason reason) override {
    failures[link] = reason;
    co_return std::vector<Import>(1);
  }
  Task<links::LinkPage> list(links::OwnerId, std::optional<std::string>, std::optional<links::InstanceId>,
                             size_t) override {
    throw std::logic_error("no links to list");
  }

  bool away = false;
  std::map<LinkId, std::string> titles;
  std::map<LinkId, FailureReason> failures;
};

class EnrichmentTest : public testing::Test {
 protected:
  using Visited = Result<links::Visited, LinkFailure>;

  JobOutcome run(const std::string& payload, int32_t attempt = 1) {
    jobs::JobRun job;
    job.payload = payload;
    job.attempt = attempt;
    job.max_attempts = 2;
    std::optional<JobOutcome> outcome;
    asio::io_context io;
    asio::co_spawn(io, detail::run_into(enrichment.run(std::move(job)), outcome),
                   [this](const std::exception_ptr& error) { thrown = error != nullptr; });
    io.run();
    return outcome.value_or(JobOutcome{});
  }
  JobOutcome visit(const std::string& url, int32_t attempt = 1) {
    return run(links::enrichment_payload(*links::CanonicalUrl::parse(url)), attempt);
  }
  static LinkId id(const std::string& url) { return links::CanonicalUrl::parse(url)->id(); }
  static Task<Visited> say(Visited visited) { co_return visited; }

  Visited answer = links::Visited(PageFacts{.title = "A title"});
  VirtualClock clock;
  LinkEnds links;
  links::PretendBlockedDomains domains{clock};
  HeardNews news;
  bool thrown = false;
  Enrichment enrichment{{.visit = [this](links::LinkVisit, Deadline) { return say(answer); },
                         .links = links,
                         .domains = domains,
                         .news = news}};
};

TEST_F(EnrichmentTest, what_a_page_says_is_kept_and_told) {
  EXPECT_EQ(visit("https://a.example/x").kind, JobOutcome::Kind::done);
  EXPECT_EQ(links.titles, (std::map<LinkId, std::string>{{id("https://a.example/x"), "A title"}}));
  EXPECT_EQ(news.heard.size(), 1U);
}

TEST_F(EnrichmentTest, a_visit_that_leads_to_another_domain_is_handed_on_to_it) {
  const links::LinkVisit onward(*links::CanonicalUrl::parse("https://a.example/x"),
                                *http::Url::parse("https://b.example/y"), 1);
  answer = links::Visited(onward);
  const JobOutcome outcome = visit("https://a.example/x", 2);
  EXPECT_EQ(outcome.kind, JobOutcome::Kind::released);
  ASSERT_TRUE(outcome.onward);
  EXPECT_EQ(outcome.onward->throttle_key, "b.example");
  EXPECT_EQ(links::parse_enrichment_payload(outcome.onward->payload), onward);
  EXPECT_EQ(links.titles.size() + links.failures.size() + news.heard.size(), 0U);
}

TEST_F(EnrichmentTest, an_ordinary_failure_is_tried_again_and_the_last_settles_the_link) {
  answer = LinkFailure{FailureReason::unavailable, "the site answers 503"};
  const JobOutcome first = visit("https://a.example/x");
  EXPECT_EQ(first.kind, JobOutcome::Kind::failed);
  EXPECT_EQ(first.error, "unavailable: the site answers 503");
  EXPECT_TRUE(links.failures.empty());
  EXPECT_EQ(visit("https://a.example/x", 2).kind, JobOutcome::Kind::failed);
  EXPECT_EQ(links.failures.at(id("https://a.example/x")), FailureReason::unavailable);
  EXPECT_EQ(news.heard.size(), 1U);
  EXPECT_TRUE(domains.rows.empty());
}

TEST_F(EnrichmentTest, what_the_site_forbids_is_dead_at_once_and_blames_the_domain) {
  for (const FailureReason reason : {FailureReason::robots, FailureReason::captcha}) {
    answer = LinkFailure{reason, "no", "a.example"};
    EXPECT_EQ(visit("https://a.example/x").kind, JobOutcome::Kind::dead);
    EXPECT_EQ(links.failures.at(id("https://a.example/x")), reason);
    EXPECT_EQ((domains.rows[{"a.example", reason}].count), 1);
  }
}

TEST_F(EnrichmentTest, a_domain_that_answers_403_again_and_again_is_believed) {
  answer = LinkFailure{FailureReason::forbidden, "the site answers 403", "a.example"};
  EXPECT_EQ(visit("https://a.example/1").kind, JobOutcome::Kind::failed);
  EXPECT_EQ(visit("https://a.example/2").kind, JobOutcome::Kind::failed);
  answer.error().host = "b.example";
  EXPECT_EQ(visit("https://b.example/1").kind, JobOutcome::Kind::failed);
  answer.error().host = "a.example";
  EXPECT_EQ(visit("https://a.example/3").kind, JobOutcome::Kind::dead);
  EXPECT_EQ(visit("https://a.example/4").kind, JobOutcome::Kind::dead);
  EXPECT_EQ(links.failures.size(), 2U);
}

TEST_F(EnrichmentTest, who_answered_is_blamed_and_not_who_led_there) {
  answer = LinkFailure{FailureReason::captcha, "no", "landing.example"};
  EXPECT_EQ(visit("https://short.example/x").kind, JobOutcome::Kind::dead);
  ASSERT_EQ(domains.rows.size(), 1U);
  EXPECT_EQ((domains.rows[{"landing.example", FailureReason::captcha}].count), 1);
}

TEST_F(EnrichmentTest, a_dead_link_is_no_fault_of_its_domain_and_gets_its_second_try) {
  answer = LinkFailure{FailureReason::gone, "the site answers 404", "a.example"};
  EXPECT_EQ(visit("https://a.example/x").kind, JobOutcome::Kind::failed);
  EXPECT_TRUE(domains.rows.empty());
}

TEST_F(EnrichmentTest, a_store_that_is_away_is_no_failure_of_the_link) {
  links.away = true;
  visit("https://a.example/x", 2);
  EXPECT_TRUE(thrown);
  EXPECT_TRUE(links.failures.empty());
}

TEST_F(EnrichmentTest, a_payload_that_names_no_link_is_dead) {
  for (const char* payload : {"", "{}", R"({"url":"javascript:x"})", R"({"url":"https://a:b@c/"})", "[]"}) {
    EXPECT_EQ(run(payload).kind, JobOutcome::Kind::dead) << payload;
  }
}

}  // namespace
}  // namespace sluice::flows
