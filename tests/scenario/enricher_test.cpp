// Links enriched from the simulated web.
#include "links/enricher.h"

#include <csignal>
#include <future>

#include <simdjson.h>

#include "tests/scenario/http_client_fixture.h"
#include "tests/scenario/raw_client.h"
#include "tests/support/lab_web.h"

namespace sluice {
namespace {

using links::CanonicalUrl;
using links::LinkFailure;
using links::LinkVisit;
using links::PageFacts;
using test::RawClient;

class EnricherScenario : public http::HttpClient {
 protected:
  EnricherScenario() {
    config_.allow_loopback = true;
    config_.timeout = 20s;
    visit_with(config_);
  }
  ~EnricherScenario() override { wait_for(scope_.close()); }

  void visit_with(const links::LinksConfig& config) {
    make_client(client_options(config, 4));
    enricher_.emplace(config, *client, readers_, clock, scope_, context.get_executor());
  }

  // Goes on where redirects lead, as the next job would.
  Result<PageFacts, LinkFailure> enrich(const std::string& host, const std::string& target) {
    LinkVisit visit(*CanonicalUrl::parse(web_.url(host, target)));
    while (true) {
      Result<links::Visited, LinkFailure> visited = wait_for(enricher_->enrich(visit));
      if (!visited) return visited.error();
      if (auto* facts = std::get_if<PageFacts>(&*visited)) return std::move(*facts);
      visit = std::get<LinkVisit>(*std::move(visited));
    }
  }

  // The title, or the reason of the failure.
  std::string title(const std::string& host, const std::string& target) {
    const auto outcome = enrich(host, target);
    return outcome ? outcome->title : std::string(enum_name(outcome.error().reason));
  }

  uint64_t requests(const std::string& key) {
    const test::RawResponse stats = RawClient(web_.port()).get("/lab/stats");
    uint64_t count = 0;
    const auto document = parser_.parse(stats.body);
    return document["byHost"][key]["requests"].get(count) == simdjson::SUCCESS ? count : 0;
  }

  // The answer to `question`, which needs the only thread of `readers` after a request that is counted under `key`.
  // Until that busy thread is free there must be no answer, and the client's thread must serve others.
  template <class Answer>
  Answer ask_busy_readers(Offload& readers, Task<Answer> question, const std::string& key) {
    std::promise<void> released;
    EXPECT_TRUE(readers.try_submit([busy = released.get_future()] { busy.wait(); }));
    std::optional<Answer> answer;
    bool answered = false;
    asio::co_spawn(context, detail::run_into(std::move(question), answer),
                   [&answered](const std::exception_ptr&) { answered = true; });

    const http::ClientRequest other = get(web_.url("norobots.test", "/other"));
    while (requests(key) == 0) outcome(other);
    for (int i = 0; i < 10; ++i) outcome(other);
    EXPECT_FALSE(answered);

    released.set_value();
    context.restart();
    while (!answered) context.run_one();
    return std::move(answer).value();
  }

  test::LabWeb web_;
  links::LinksConfig config_;
  TaskScope scope_{context.get_executor()};
  Offload readers_{"readers", 2, 100};
  std::optional<links::Enricher> enricher_;
  simdjson::dom::parser parser_;
};

TEST_F(EnricherScenario, a_page_gives_its_facts) {
  const auto facts = enrich("news.test", "/articles/1");
  ASSERT_TRUE(facts) << facts.error().text;
  EXPECT_EQ(*facts, (PageFacts{.title = "/articles/1 at news.test",
                               .description = "About /articles/1 at news.test",
                               .site_name = "Laboratory",
                               .image_url = web_.url("news.test", "/og.png"),
                               .icon_url = web_.url("news.test", "/favicon.ico")}));
}

TEST_F(EnricherScenario, a_page_in_euc_kr_is_read_wherever_it_says_so) {
  for (const char* target : {"/euc-kr/header", "/euc-kr/meta", "/euc-kr/none"}) {
    EXPECT_EQ(title("news.test", target), "한글 제목") << target;
  }
}

TEST_F(EnricherScenario, redirects_are_followed_up_to_a_limit) {
  EXPECT_EQ(title("news.test", "/redirect/5"), "/landed at news.test");
  EXPECT_EQ(title("news.test", "/redirect/6"), "bad-link");
  EXPECT_EQ(title("news.test", "/loop"), "bad-link");
  EXPECT_EQ(title("news.test", "/to?" + web_.url("other.test", "/x")), "/x at other.test");
}

TEST_F(EnricherScenario, a_redirect_to_another_domain_ends_the_visit_there) {
  const CanonicalUrl link = *CanonicalUrl::parse(web_.url("news.test", "/to?" + web_.url("other.test", "/x")));
  const auto visited = wait_for(enricher_->enrich(LinkVisit(link)));
  ASSERT_TRUE(visited);
  const LinkVisit expected(link, *http::Url::parse(web_.url("other.test", "/x")), 1);
  ASSERT_TRUE(std::holds_alternative<LinkVisit>(*visited));
  EXPECT_EQ(std::get<LinkVisit>(*visited), expected);
  EXPECT_EQ(requests("other.test") + requests("other.test/robots.txt"), 0u);
}

TEST_F(EnricherScenario, redirects_over_domains_count_together) {
  config_.max_redirects = 1;
  visit_with(config_);
  EXPECT_EQ(title("a.test", "/to?" + web_.url("b.test", "/x")), "/x at b.test");
  EXPECT_EQ(title("a.test", "/to?" + web_.url("b.test", "/redirect/1")), "bad-link");
}

TEST_F(EnricherScenario, a_redirect_into_a_private_network_is_not_followed) {
  for (const char* target :
       {"/to-private", "/to-metadata", "/to-file", "/to?http://192.168.0.1/", "/to?http://[fe80::1]/"}) {
    EXPECT_EQ(title("news.test", target), "bad-link") << target;
  }
}

TEST_F(EnricherScenario, loopback_is_visited_by_tests_only) {
  config_.allow_loopback = false;
  visit_with(config_);
  EXPECT_EQ(title("127.0.0.1", "/"), "bad-link");
  EXPECT_EQ(title("localhost", "/"), "bad-link");
  EXPECT_EQ(requests("127.0.0.1") + requests("localhost"), 0u);
}

TEST_F(EnricherScenario, robots_txt_is_heeded_and_asked_for_once) {
  EXPECT_EQ(title("news.test", "/private/x"), "robots");
  EXPECT_EQ(title("news.test", "/private/open"), "/private/open at news.test");
  EXPECT_EQ(title("closed.test", "/x"), "robots");
  EXPECT_EQ(title("norobots.test", "/private/x"), "/private/x at norobots.test");
  EXPECT_EQ(title("brokenrobots.test", "/x"), "unavailable");
  EXPECT_EQ(requests("news.test/robots.txt"), 1u);
  EXPECT_EQ(requests("closed.test"), 0u);
  EXPECT_EQ(requests("brokenrobots.test"), 0u);
}

TEST_F(EnricherScenario, robots_txt_is_read_on_a_thread_of_its_own) {
  Offload readers("readers", 1, 10);
  links::Robots robots(*client, readers, clock, scope_, context.get_executor(), {});
  // No rules: nothing is looked up afterwards, which would need the same thread.
  Task<Result<bool, LinkFailure>> question = robots.allow(*http::Url::parse(web_.url("brokenrobots.test", "/x")));
  const auto allowed = ask_busy_readers(readers, std::move(question), "brokenrobots.test/robots.txt");
  ASSERT_FALSE(allowed);
  EXPECT_EQ(allowed.error().reason, links::FailureReason::unavailable);
}

TEST_F(EnricherScenario, rules_of_robots_txt_are_looked_up_on_a_thread_of_their_own) {
  Offload readers("readers", 1, 10);
  links::Robots robots(*client, readers, clock, scope_, context.get_executor(), {});
  const http::Url url = *http::Url::parse(web_.url("news.test", "/private/x"));
  EXPECT_FALSE(wait_for(robots.allow(url)).value());
  EXPECT_FALSE(ask_busy_readers(readers, robots.allow(url), "news.test/robots.txt").value());
  EXPECT_EQ(requests("news.test/robots.txt"), 1u);
}

TEST_F(EnricherScenario, a_page_is_read_on_a_thread_of_its_own) {
  config_.robots = false;  // robots.txt needs the same thread
  Offload readers("readers", 1, 10);
  links::Enricher enricher(config_, *client, readers, clock, scope_, context.get_executor());
  Task<Result<links::Visited, LinkFailure>> question =
      enricher.enrich(LinkVisit(*CanonicalUrl::parse(web_.url("news.test", "/articles/1"))));
  const auto visited = ask_busy_readers(readers, std::move(question), "news.test");
  ASSERT_TRUE(visited) << visited.error().text;
  EXPECT_EQ(std::get<PageFacts>(*visited).title, "/articles/1 at news.test");
}

TEST_F(EnricherScenario, robots_txt_of_the_site_behind_a_redirect_counts_too) {
  EXPECT_EQ(title("news.test", "/to?" + web_.url("closed.test", "/x")), "robots");
  EXPECT_EQ(requests("closed.test"), 0u);
}

TEST_F(EnricherScenario, a_failure_names_the_site_that_answered_so) {
  for (const char* host : {"closed.test", "captcha.test", "forbidden.test", "down.test"}) {
    EXPECT_EQ(enrich("news.test", "/to?" + web_.url(host, "/x")).error().host, host);
  }
  EXPECT_EQ(enrich("forbidden.test", "/x").error().host, "forbidden.test");
}

TEST_F(EnricherScenario, many_at_once_ask_for_robots_txt_together) {
  std::vector<std::string> titles;
  TaskScope visits(context.get_executor());
  const auto visit = [](links::Enricher& enricher, CanonicalUrl url, std::vector<std::string>& found) -> Task<> {
    const Result<links::Visited, LinkFailure> visited = co_await enricher.enrich(LinkVisit(url));
    found.push_back(visited ? std::get<PageFacts>(*visited).title : visited.error().text);
  };
  for (int i = 0; i < 20; ++i) {
    const auto url = CanonicalUrl::parse(web_.url("busy.test", "/" + std::to_string(i)));
    visits.spawn("visit", visit(*enricher_, *url, titles));
  }
  wait_for(visits.join());
  ASSERT_EQ(titles.size(), 20u);
  EXPECT_TRUE(std::ranges::all_of(titles, [](const std::string& title) { return title.ends_with(" at busy.test"); }));
  EXPECT_EQ(requests("busy.test/robots.txt"), 1u);
  EXPECT_EQ(requests("busy.test"), 20u);
}

TEST_F(EnricherScenario, failures_are_told_apart) {
  EXPECT_EQ(title("forbidden.test", "/"), "forbidden");
  EXPECT_EQ(title("captcha.test", "/"), "captcha");
  EXPECT_EQ(title("news.test", "/captcha"), "captcha");
  EXPECT_EQ(title("news.test", "/status/404"), "gone");
  EXPECT_EQ(title("news.test", "/status/429"), "rate-limited");
  EXPECT_EQ(title("down.test", "/"), "unavailable");
  EXPECT_EQ(title("news.test", "/broken"), "unreachable");
}

TEST_F(EnricherScenario, a_site_that_never_answers_takes_no_longer_than_it_may) {
  config_.timeout = 300ms;
  visit_with(config_);
  EXPECT_EQ(title("news.test", "/stall"), "unreachable");
  EXPECT_EQ(title("stall.test", "/"), "unreachable");  // already with its robots.txt
}

TEST_F(EnricherScenario, a_page_without_end_is_read_as_far_as_facts_go) {
  EXPECT_EQ(title("news.test", "/endless"), "Endless");
}

TEST_F(EnricherScenario, a_picture_has_no_facts_and_is_no_failure) {
  const auto facts = enrich("news.test", "/picture");
  ASSERT_TRUE(facts) << facts.error().text;
  EXPECT_EQ(*facts, PageFacts{});
}

TEST_F(EnricherScenario, a_site_that_is_gone_is_unreachable) {
  web_.process().signal(SIGTERM);
  EXPECT_EQ(web_.process().wait(), 0);
  EXPECT_EQ(title("news.test", "/"), "unreachable");
}

}  // namespace
}  // namespace sluice
