// The simulated origin, as its user starts it.
#include "tests/support/lab_origin.h"

#include <csignal>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "lab/sample_layouts.h"
#include "tests/scenario/raw_client.h"

namespace sluice {
namespace {

using lab::make_layout;
using lab::sample_layouts;
using test::Process;
using test::RawClient;
using test::RawResponse;

constexpr const char* path = "/ssgo101/SSGO101F01.xml";

class LabOriginScenario : public testing::Test {
 protected:
  void start(const std::vector<std::string>& flags = {}) {
    origin_.emplace(flags);
    port_ = origin_->port();
  }

  RawResponse get(std::string_view target) { return RawClient(port_).get(target); }

  RawResponse send(std::string_view method, std::string_view target, std::string_view body = "") {
    RawClient client(port_);
    client.send(fmt::format("{} {} HTTP/1.1\r\nHost: origin\r\nContent-Length: {}\r\n\r\n{}", method, target,
                            body.size(), body));
    return client.read_response();
  }

  uint64_t stat(std::string_view pointer) {
    const RawResponse stats = get("/stats");
    uint64_t value = 0;
    return parser_.parse(stats.body).at_pointer(pointer).get(value) == simdjson::SUCCESS ? value : 0;
  }

  // Asks again until it is so; a test that waits in vain is ended by its time limit.
  void wait_for_stat(std::string_view pointer, uint64_t wanted) {
    while (stat(pointer) != wanted) continue;
  }

  // Sends a request without reading its answer yet.
  std::unique_ptr<RawClient> ask(std::string_view target) {
    auto client = std::make_unique<RawClient>(port_);
    client->send(fmt::format("GET {} HTTP/1.1\r\nHost: origin\r\n\r\n", target));
    return client;
  }

  std::optional<test::LabOrigin> origin_;
  uint16_t port_ = 0;
  simdjson::dom::parser parser_;
};

TEST_F(LabOriginScenario, serves_the_39_layouts_and_counts_who_asks) {
  start();
  RawClient client(port_);
  for (const auto& layout : sample_layouts()) {
    const RawResponse answer = client.get("/" + layout.path);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("Content-Type"), "application/xml");
    EXPECT_EQ(answer.body, make_layout(layout.path));
  }
  EXPECT_EQ(client.get("/extra/1.xml").body, make_layout("extra/1.xml"));
  EXPECT_EQ(client.get("/nothing.xml").status, 404);
  EXPECT_EQ(stat("/requests"), 41U);
  EXPECT_EQ(stat("/maxConcurrency"), 1U);
  EXPECT_EQ(stat("/byPath/ssgo003~1SSGO003F10.xml/requests"), 1U);

  EXPECT_EQ(send("POST", "/stats/reset").status, 200);
  EXPECT_EQ(stat("/requests"), 0U);
}

TEST_F(LabOriginScenario, layouts_are_filled_up_to_a_size) {
  start({"--size", "30000"});
  EXPECT_EQ(get(path).body.size(), 30'000U);
}

TEST_F(LabOriginScenario, an_answer_takes_its_time) {
  start({"--latency", "60ms", "--jitter", "10ms"});
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(get(path).status, 200);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 50ms);
}

TEST_F(LabOriginScenario, fails_and_recovers_when_told_to) {
  start({"--failure-rate", "1"});
  EXPECT_EQ(get(path).status, 500);
  EXPECT_EQ(send("PUT", "/settings", R"({"failureRate": 0})").status, 200);
  EXPECT_EQ(get(path).status, 200);
}

TEST_F(LabOriginScenario, a_share_of_the_requests_fails) {
  start({"--failure-rate", "0.5"});
  RawClient client(port_);
  int failed = 0;
  for (int i = 0; i < 200; ++i) failed += client.get(path).status == 500 ? 1 : 0;
  EXPECT_GT(failed, 60);
  EXPECT_LT(failed, 140);
}

TEST_F(LabOriginScenario, error_pages_come_with_status_200_openly_or_as_xml) {
  start({"--html-rate", "1"});
  const RawResponse open = get(path);
  EXPECT_EQ(open.status, 200);
  EXPECT_TRUE(open.header("Content-Type").starts_with("text/html"));
  send("PUT", "/settings", R"({"htmlRate": 0, "disguisedRate": 1})");
  const RawResponse disguised = get(path);
  EXPECT_EQ(disguised.status, 200);
  EXPECT_EQ(disguised.header("Content-Type"), "application/xml");
  EXPECT_FALSE(disguised.body.contains("inswave"));
}

TEST_F(LabOriginScenario, a_truncated_body_is_shorter_than_promised_and_the_connection_ends) {
  start({"--truncate-rate", "1"});
  const std::string answer = ask(path)->read_to_end();
  const std::string whole = make_layout(std::string(path).substr(1));
  EXPECT_TRUE(answer.contains(fmt::format("Content-Length: {}\r\n", whole.size()))) << answer;
  EXPECT_TRUE(answer.ends_with(whole.substr(0, whole.size() / 2)));
}

TEST_F(LabOriginScenario, a_stalled_request_is_open_until_the_other_side_hangs_up) {
  start({"--stall-rate", "1"});
  auto first = ask(path);
  auto second = ask(path);
  auto third = ask("/extra/1.xml");
  wait_for_stat("/inFlight", 3);
  EXPECT_EQ(stat("/maxConcurrency"), 3U);
  EXPECT_EQ(stat("/byPath/ssgo101~1SSGO101F01.xml/maxConcurrency"), 2U);
  first.reset();
  second.reset();
  third.reset();
  wait_for_stat("/inFlight", 0);
  EXPECT_EQ(stat("/maxConcurrency"), 3U);
}

TEST_F(LabOriginScenario, settings_that_make_no_sense_change_nothing) {
  start({"--latency", "5ms"});
  for (const char* wrong : {"", "{", R"({"failureRate": 2})", R"({"failureRate": 0.6, "stallRate": 0.6})",
                            R"({"latency": "soon"})", R"({"jitter": "1s"})", R"({"mood": "bad"})"}) {
    EXPECT_EQ(send("PUT", "/settings", wrong).status, 400) << wrong;
  }
  EXPECT_EQ(get("/settings").body,
            R"({"latency":"5ms","jitter":"0s","failureRate":0.0,"htmlRate":0.0,"disguisedRate":0.0,)"
            R"("stallRate":0.0,"truncateRate":0.0,"size":0,"unknown":"404"})");
}

TEST_F(LabOriginScenario, stops_when_told_to_also_while_requests_stall) {
  start({"--stall-rate", "1"});
  const auto stalled = ask(path);
  wait_for_stat("/inFlight", 1);
  origin_->process().signal(SIGTERM);
  EXPECT_EQ(origin_->process().wait(), 0);
}

TEST_F(LabOriginScenario, nonsense_is_refused_and_help_has_an_example) {
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"--listen", "nowhere"}, {"--latency", "soon"}, {"--failure-rate", "2"}, {"--jitter", "1s"}}) {
    std::vector<std::string> arguments{test::binary("sluice-lab"), "origin"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    Process process({.arguments = std::move(arguments)});
    EXPECT_EQ(process.wait(), 2) << process.output();
  }
  Process help({.arguments = {test::binary("sluice-lab"), "origin", "--help"}});
  EXPECT_EQ(help.wait(), 0);
  EXPECT_TRUE(help.output().contains("sluice-lab origin --listen"));
}

}  // namespace
}  // namespace sluice
