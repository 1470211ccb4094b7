// Documents with three real processes on one PostgreSQL behind a transaction pooler.
#include <csignal>

#include "tests/scenario/documents_fixture.h"

namespace sluice::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

struct DocumentsScenario : testing::Test {
  // Starting an installation takes seconds; the tests share one and use paths of their own.
  static void SetUpTestSuite() {
    steady = new ToldOrigin();
    flaky = new ToldOrigin();
    odd = new ToldOrigin();
    // Slots and breakers go by name: who fills or trips them has a name of their own. Short times only where a test
    // waits for their end: a busy machine may need seconds for anything.
    const std::string settings = origin("scourt", steady, "") +
                                 origin("claims", steady, "claim_ttl = \"4s\"\ntimeout = \"5s\"\n") +
                                 origin("slots", steady, "timeout = \"4s\"\n") + origin("flaky", flaky, "") +
                                 origin("failing", flaky, "") + origin("stalling", flaky, "timeout = \"1s\"\n") +
                                 origin("odd", odd, "strangers_per_second = 2\nfresh_for = \"1ms\"\n");
    installation = new Installation(settings);
  }
  static void TearDownTestSuite() {
    delete installation;
    delete odd;
    delete flaky;
    delete steady;
  }
  void SetUp() override {
    steady->set(R"({"latency":"0ms"})");
    flaky->set(good);
  }

  static std::string origin(const std::string& name, const ToldOrigin* at, const std::string& more) {
    return "[[documents.origin]]\nname = \"" + name + "\"\nbase_url = \"" + at->url() +
           "\"\nmax_per_second = 1000\nhold_down = \"100ms\"\nallow = \"e*/**\"\n" +
           (more.contains("strangers_per_second") ? "" : "strangers_per_second = 1000\n") + more +
           "[documents.origin.require]\nwell_formed_xml = true\nnamespace = \"http://www.inswave.com/websquare\"\n";
  }

  static uint16_t port(size_t server) { return installation->server(server).port(); }
  static RawResponse get(size_t server, const std::string& origin, const std::string& path) {
    return RawClient(port(server)).get(document_target(origin, path));
  }
  // Asks until it is served; earlier requests get 429 or 503 in time.
  static RawResponse get_in_the_end(size_t server, const std::string& origin, const std::string& path) {
    const auto give_up = std::chrono::steady_clock::now() + 60s;
    RawResponse response = get(server, origin, path);
    while (response.status != 200 && std::chrono::steady_clock::now() < give_up) response = get(server, origin, path);
    EXPECT_EQ(response.status, 200) << response.body;
    return response;
  }
  // Until the origin has been asked for `path`.
  static void wait_for_origin(const std::string& path, int64_t times) {
    const auto give_up = std::chrono::steady_clock::now() + 60s;
    while (steady->stat(path) < times) {
      ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "the origin was not asked for " << path;
    }
  }

  static constexpr const char* good =
      R"({"latency":"0ms","failureRate":0,"htmlRate":0,"disguisedRate":0,"stallRate":0,"truncateRate":0})";
  static inline ToldOrigin* steady = nullptr;
  static inline ToldOrigin* flaky = nullptr;
  static inline ToldOrigin* odd = nullptr;
  static inline Installation* installation = nullptr;
};

TEST_F(DocumentsScenario, three_thousand_readers_cost_one_download) {
  steady->set(R"({"latency":"500ms"})");
  std::vector<std::unique_ptr<Process>> crowds;
  for (size_t i = 0; i < 3; ++i) {
    const std::string url = installation->server(i).url() + document_target("scourt", "extra/herd.xml");
    crowds.push_back(
        std::make_unique<Process>(ProcessOptions{.arguments = {binary("sluice-lab"), "load", url, "--connections",
                                                               "1000", "--requests", "1000", "--timeout", "60s"}}));
  }
  for (const auto& crowd : crowds) EXPECT_EQ(crowd->wait(90s), 0) << crowd->output();
  EXPECT_EQ(steady->stat("extra/herd.xml"), 1);
}

TEST_F(DocumentsScenario, two_hundred_cold_documents_meet_at_most_three_at_the_origin) {
  steady->set(R"({"latency":"20ms"})");
  std::vector<std::unique_ptr<RawClient>> readers;
  for (int i = 0; i < 200; ++i) {
    readers.push_back(std::make_unique<RawClient>(port(static_cast<size_t>(i) % 3)));
    ask(*readers.back(), document_target("scourt", "extra/many/" + std::to_string(i) + ".xml"));
  }
  int served = 0;
  for (const auto& reader : readers) {
    const RawResponse response = reader->read_response();
    EXPECT_THAT(response.status, AnyOf(200, 429));
    served += response.status == 200 ? 1 : 0;
  }
  EXPECT_GT(served, 3) << "who waits gets a turn";
  EXPECT_LE(steady->stat("maxConcurrency"), 3);
}

TEST_F(DocumentsScenario, two_hundred_refreshes_of_known_documents_meet_at_most_three_at_the_origin) {
  std::string paths;
  for (int i = 0; i < 200; ++i) paths += fmt::format("extra/known/{}.xml\n", i);
  EXPECT_EQ(installation->sluice({"documents", "prewarm", "scourt", "-"}, paths).code, 0);
  steady->set(R"({"latency":"20ms"})");
  std::vector<std::unique_ptr<RawClient>> services;
  for (int i = 0; i < 200; ++i) {
    services.push_back(std::make_unique<RawClient>(port(static_cast<size_t>(i) % 3)));
    ask_to_download(*services.back(), "scourt",
                    fmt::format(R"({{"path":"extra/known/{}.xml","forceRefresh":true}})", i));
  }
  for (const auto& service : services) EXPECT_EQ(service->read_response().status, 200);
  EXPECT_EQ(steady->stat("maxConcurrency"), 3);
}

TEST_F(DocumentsScenario, a_thousand_invented_paths_hurt_no_known_document_and_leave_no_row) {
  const auto expect_refreshed = [](size_t server) {
    const RawResponse known = get(server, "odd", "extra/known.xml");
    EXPECT_EQ(known.status, 200) << known.body;
    EXPECT_EQ(known.header("Sluice-Source"), "origin");
    EXPECT_EQ(known.header("Sluice-Degraded"), "");
  };
  ASSERT_EQ(get(0, "odd", "extra/known.xml").status, 200);
  for (const std::string answer : {"404", "html", "500"}) {  // the last opens the strangers' breaker
    odd->set(R"({"unknown":")" + answer + R"("})");
    std::vector<std::unique_ptr<RawClient>> strangers;
    for (size_t i = 0; i < 1000; ++i) {
      strangers.push_back(std::make_unique<RawClient>(port(i % 3)));
      ask(*strangers.back(), document_target("odd", fmt::format("else/{}/{}.xml", answer, i)));
      if (i % 100 == 0) expect_refreshed(i % 3);
    }
    std::map<int, int> statuses;
    for (const auto& stranger : strangers) {
      const RawResponse response = stranger->read_response();
      ++statuses[response.status];
      if (response.status != 404) EXPECT_EQ(response.header("Retry-After"), "5");
    }
    EXPECT_GT(statuses[429], 500) << answer;
    EXPECT_GT(statuses[answer == "500" ? 503 : 404], 0) << answer;
    EXPECT_EQ(statuses.size(), 2U) << answer;
    for (size_t server = 0; server < 3; ++server) expect_refreshed(server);
  }
  EXPECT_EQ(installation->query("SELECT count(*) FROM document_service.documents WHERE origin = 'odd'"), "1\n");
}

TEST_F(DocumentsScenario, a_killed_owner_is_replaced_and_nobody_is_left_waiting) {
  steady->set(R"({"latency":"4s"})");
  const std::string path = "extra/killed.xml";
  RawClient starter(port(0));
  ask(starter, document_target("claims", path));
  wait_for_origin(path, 1);
  RawClient second(port(1));
  RawClient third(port(2));
  ask(second, document_target("claims", path));
  ask(third, document_target("claims", path));
  installation->server(0).kill();
  steady->set(R"({"latency":"0ms"})");
  const auto killed = std::chrono::steady_clock::now();
  EXPECT_THAT(second.read_response().status, AnyOf(200, 503));
  EXPECT_THAT(third.read_response().status, AnyOf(200, 503));
  get_in_the_end(1, "claims", path);
  EXPECT_LT(std::chrono::steady_clock::now() - killed, 15s);
  EXPECT_EQ(steady->stat(path), 2);
  installation->restart(0);
}

// Its slots come back when their leases end, 9 s after they were taken here.
TEST_F(DocumentsScenario, a_killed_owner_of_all_slots_blocks_the_origin_no_longer_than_their_leases) {
  for (const std::string path : {"extra/slot1.xml", "extra/slot2.xml", "extra/slot3.xml"}) {
    get_in_the_end(0, "slots", path);
  }
  steady->set(R"({"latency":"3s"})");
  std::vector<std::unique_ptr<RawClient>> readers;
  for (const std::string path : {"extra/slot1.xml", "extra/slot2.xml", "extra/slot3.xml"}) {
    readers.push_back(std::make_unique<RawClient>(port(0)));
    ask_to_download(*readers.back(), "slots", R"({"path":")" + path + R"(","forceRefresh":true})");
    wait_for_origin(path, 2);
  }
  installation->server(0).kill();
  const auto killed = std::chrono::steady_clock::now();
  steady->set(R"({"latency":"0ms"})");
  get_in_the_end(1, "slots", "extra/slot4.xml");
  EXPECT_LT(std::chrono::steady_clock::now() - killed, 15s);
  installation->restart(0);
}

TEST_F(DocumentsScenario, a_paused_owner_that_wakes_up_changes_nothing) {
  steady->set(R"({"latency":"2s"})");
  const std::string path = "extra/paused.xml";
  RawClient starter(port(0));
  ask(starter, document_target("claims", path));
  wait_for_origin(path, 1);
  installation->server(0).process().signal(SIGSTOP);
  const RawResponse taken_over = get_in_the_end(1, "claims", path);
  installation->server(0).process().signal(SIGCONT);
  EXPECT_EQ(steady->stat(path), 2);
  // Readers of the first get the stored copy or a timeout; its own copy is dropped.
  const RawResponse late = starter.read_response();
  EXPECT_THAT(late.status, AnyOf(200, 503));
  installation->server(0).process().wait_for_line("a document arrived after its claim expired");
  EXPECT_EQ(get(0, "claims", path).header("ETag"), taken_over.header("ETag"));
}

TEST_F(DocumentsScenario, the_reader_who_started_a_download_may_hang_up) {
  steady->set(R"({"latency":"1s"})");
  const std::string path = "extra/hangup.xml";
  auto starter = std::make_unique<RawClient>(port(0));
  ask(*starter, document_target("scourt", path));
  wait_for_origin(path, 1);
  RawClient other(port(0));
  ask(other, document_target("scourt", path));
  starter.reset();
  EXPECT_EQ(other.read_response().status, 200);
  EXPECT_EQ(steady->stat(path), 1);
}

// For every failure of the origin the last good copy is served, and nothing bad is stored.
struct MisbehavingOrigin : DocumentsScenario {
  void SetUp() override {
    DocumentsScenario::SetUp();
    for (const char* const origin : {"flaky", "failing", "stalling"}) first[origin] = get_in_the_end(0, origin, path);
  }
  void expect_last_good_copy(const std::string& origin, const std::string& settings, const std::string& reason) {
    const bool no_document = reason == "invalid-content";  // to a reader without a copy
    flaky->set(settings);
    const RawResponse forced = download(port(1), origin, R"({"path":"extra/good.xml","forceRefresh":true})");
    EXPECT_EQ(forced.status, 200) << settings;
    EXPECT_THAT(forced.body, HasSubstr(R"("degraded":true,"reason":")" + reason)) << settings;
    EXPECT_THAT(forced.body, HasSubstr(R"("source":"stale")")) << settings;
    const std::string never = "extra/never-" + std::to_string(++asked) + ".xml";
    const RawResponse cold = get(2, origin, never);
    EXPECT_EQ(cold.status, no_document ? 404 : 503) << settings;
    EXPECT_EQ(cold.header("Retry-After"), no_document ? "" : "5");
    EXPECT_EQ(cold.header("Sluice-Degraded"), no_document ? "" : reason) << settings;
    EXPECT_EQ(RawClient(port(2)).get(document_target(origin, never) + "?fetch=false").status, 404);
    EXPECT_EQ(get(2, origin, path).header("ETag"), first[origin].header("ETag"));
    EXPECT_EQ(get(2, origin, path).body, first[origin].body);
  }

  const std::string path = "extra/good.xml";
  std::map<std::string, RawResponse> first;
  int asked = 0;
};

TEST_F(MisbehavingOrigin, what_it_sends_instead_is_never_cached) {
  expect_last_good_copy("flaky", R"({"htmlRate":1})", "invalid-content");
  expect_last_good_copy("flaky", R"({"htmlRate":0,"disguisedRate":1})", "invalid-content");
  expect_last_good_copy("flaky", R"({"disguisedRate":0,"truncateRate":1})", "origin-error");
  expect_last_good_copy("stalling", R"({"truncateRate":0,"stallRate":1})", "download-timeout");
}

TEST_F(MisbehavingOrigin, its_failures_are_never_cached) {
  expect_last_good_copy("failing", R"({"failureRate":1})", "origin-error");
}

TEST_F(DocumentsScenario, a_refresh_reaches_the_other_instances) {
  const std::string path = "extra/refreshed.xml";
  const RawResponse before = get(0, "scourt", path);
  ASSERT_EQ(get(1, "scourt", path).status, 200);
  steady->set(R"({"size":5000})");
  EXPECT_EQ(download(port(1), "scourt", R"({"path":"extra/refreshed.xml","forceRefresh":true})").status, 200);
  steady->set(R"({"size":0})");
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  while (get(0, "scourt", path).header("ETag") == before.header("ETag")) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "the old copy is still in memory";
  }
  EXPECT_EQ(get(0, "scourt", path).body.size(), 5000U);
}

TEST_F(DocumentsScenario, answers_say_where_they_come_from) {
  const std::string path = "extra/source.xml";
  EXPECT_EQ(get(0, "scourt", path).header("Sluice-Source"), "origin");
  const RawResponse memory = get(0, "scourt", path);
  EXPECT_EQ(memory.header("Sluice-Source"), "memory");
  EXPECT_EQ(get(1, "scourt", path).header("Sluice-Source"), "database");
  const RawResponse unchanged =
      RawClient(port(1)).get(document_target("scourt", path), "If-None-Match: " + memory.header("ETag") + "\r\n");
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(memory.header("Content-Type"), "application/xml");
  EXPECT_EQ(memory.header("Content-Security-Policy"), "default-src 'none'; sandbox");
  EXPECT_THAT(RawClient(port(0)).get("/metrics").body,
              HasSubstr(R"(document_requests_total{origin="scourt",source="memory"})"));
  EXPECT_THAT(RawClient(port(0)).get("/api/v1/documents/scourt?path=" + path).body,
              HasSubstr(R"("origin":"scourt","path":"extra/source.xml","content":"<?xml)"));
}

TEST_F(DocumentsScenario, a_cdn_may_keep_an_old_copy_as_long_as_a_new_one) {
  const std::string path = "extra/aged.xml";
  ASSERT_EQ(get(0, "scourt", path).status, 200);
  installation->query(
      "UPDATE document_service.documents SET fetched_at = fetched_at - interval '3 days' WHERE path = '" + path + "'");
  for (size_t server = 0; server < 2; ++server) {
    const RawResponse copy = get(server, "scourt", path);
    const int age = std::stoi(copy.header("Age"));
    EXPECT_EQ(age >= 3 * 24 * 3600, server == 1) << "the first has it in memory";
    EXPECT_EQ(copy.header("Cache-Control"), fmt::format("public, max-age={}", age + 60));
  }
}

TEST_F(DocumentsScenario, a_document_is_sent_compressed_to_those_who_take_that) {
  const std::string path = "extra/compressed.xml";
  const std::string plain = get(0, "scourt", path).body;
  const auto compressed = [&] {
    return RawClient(port(0)).get(document_target("scourt", path), "Accept-Encoding: gzip\r\n");
  };
  const RawResponse first = compressed();
  EXPECT_EQ(first.header("Content-Encoding"), "gzip");
  EXPECT_EQ(first.header("Vary"), "Accept-Encoding");
  EXPECT_LT(first.body.size(), plain.size());
  EXPECT_TRUE(first.body.starts_with("\x1f\x8b"));
  EXPECT_EQ(compressed().body, first.body);
  EXPECT_EQ(get(0, "scourt", path).body, plain);
}

TEST_F(DocumentsScenario, a_herd_that_takes_gzip_or_json_has_each_form_made_once) {
  const std::string path = "extra/forms.xml";
  ASSERT_EQ(get(0, "scourt", path).status, 200);
  const auto forms_made = [] {
    const std::string metrics = RawClient(port(0)).get("/metrics").body;
    const size_t found = metrics.find("\ndocument_forms_made_total ");
    return found == std::string::npos ? 0 : std::stoi(metrics.substr(found + 27));
  };
  const int before = forms_made();
  std::vector<std::unique_ptr<RawClient>> readers;
  for (int i = 0; i < 100; ++i) {
    readers.push_back(std::make_unique<RawClient>(port(0)));
    const std::string target = i % 2 == 0 ? document_target("scourt", path) : "/api/v1/documents/scourt?path=" + path;
    readers.back()->send("GET " + target + " HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n");
  }
  for (const auto& reader : readers) EXPECT_EQ(reader->read_response().header("Content-Encoding"), "gzip");
  EXPECT_EQ(forms_made() - before, 3) << "the document compressed, its JSON, and that compressed";
}

TEST_F(DocumentsScenario, only_services_may_ask_for_downloads) {
  const std::string body = R"({"path":"extra/rights.xml"})";
  EXPECT_EQ(download(port(0), "scourt", body, "sk_somebody_else_entirely").status, 401);
  EXPECT_EQ(steady->stat("extra/rights.xml"), 0);
  EXPECT_THAT(download(port(0), "scourt", body).body, HasSubstr(R"("fromCache":false)"));
  EXPECT_THAT(download(port(0), "scourt", body).body, HasSubstr(R"("fromCache":true)"));
  EXPECT_EQ(download(port(0), "scourt", R"({"path":"../x"})").status, 400);
  EXPECT_EQ(download(port(0), "scourt", R"({})").status, 400);
  EXPECT_EQ(download(port(0), "scourt", R"({"path":"a","forced":true})").status, 400);
  EXPECT_EQ(download(port(0), "scourt", "nonsense").status, 400);
}

TEST_F(DocumentsScenario, no_path_leads_elsewhere) {
  for (const std::string path : {"../secret", "a/../b", "%2e%2e/secret", "%252e%252e/secret", "a%2fb", "a%00b", "a//b",
                                 "a/./b", "/etc/passwd", "a%5cb", "%ED%95%9C.xml"}) {
    EXPECT_THAT(get(0, "scourt", path).status, AnyOf(400, 404)) << path;
  }
  EXPECT_THAT(get(0, "scourt", std::string(600, 'a')).status, 400);
  EXPECT_EQ(get(0, "elsewhere", "extra/a.xml").status, 404);
  EXPECT_EQ(get(0, "scourt", "not-allowed/a.xml").status, 404);
  EXPECT_EQ(steady->stat("not-allowed/a.xml"), 0);
}

}  // namespace
}  // namespace sluice::test
