// The load generator, as its user starts it.
#include <gtest/gtest.h>
#include <simdjson.h>

#include "tests/support/process.h"
#include "tests/support/scripted_server.h"

namespace sluice {
namespace {

using test::Process;
using test::ScriptedServer;
using Reply = ScriptedServer::Reply;
using Call = ScriptedServer::Call;
using Then = ScriptedServer::Then;

Reply ok(Duration delay = Duration{0}) {
  return {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", .delay = delay};
}

struct Load {
  int exit_code = 0;
  std::string output;
  simdjson::dom::parser parser;
  simdjson::dom::element report;

  double number(std::string_view pointer) { return report.at_pointer(pointer).get_double().value(); }
  uint64_t count(std::string_view pointer) {
    uint64_t value = 0;
    return report.at_pointer(pointer).get(value) == simdjson::SUCCESS ? value : 0;
  }
};

void run(Load& load, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {test::binary("sluice-lab"), "load"});
  Process process({.arguments = std::move(arguments)});
  load.exit_code = process.wait();
  load.output = process.output();
  if (load.output.starts_with('{')) load.report = load.parser.parse(load.output);
}

TEST(LabLoad, a_closed_loop_counts_every_answer) {
  ScriptedServer server([](const Call&) { return ok(); });
  Load load;
  run(load, {server.url("/a"), server.url("/b"), "--requests", "500", "--connections", "4", "--json"});
  ASSERT_EQ(load.exit_code, 0) << load.output;
  EXPECT_EQ(load.count("/requests/intended"), 500U);
  EXPECT_EQ(load.count("/requests/answered"), 500U);
  EXPECT_EQ(load.count("/statuses/200"), 500U);
  EXPECT_EQ(load.count("/latencyMs/count"), 500U);
  EXPECT_GT(load.number("/latencyMs/p50"), 0.0);
  EXPECT_LE(load.number("/latencyMs/p50"), load.number("/latencyMs/p99.9"));
  EXPECT_LE(server.connections(), 4U);
  const auto requests = server.requests();
  const auto asked = [](const std::string& request) { return request.starts_with("GET /a "); };
  EXPECT_EQ(std::ranges::count_if(requests, asked), 250);
}

// One connection, and a server that stops for 300 ms once: a generator that waits for answers would see one slow
// request. 1000 requests a second means that about 300 of them should have started during the stall.
TEST(LabLoad, an_open_loop_counts_a_stall_for_everyone_who_should_have_come) {
  std::atomic<int> asked = 0;
  ScriptedServer server([&asked](const Call&) { return ok(++asked == 100 ? 300ms : 0ms); });
  Load load;
  run(load, {server.url("/"), "--rate", "1000", "--connections", "1", "--duration", "1s", "--json"});
  ASSERT_EQ(load.exit_code, 0) << load.output;
  EXPECT_EQ(load.count("/requests/intended"), 1000U);
  EXPECT_EQ(load.count("/requests/answered"), 1000U);
  EXPECT_GE(load.number("/latencyMs/p90"), 100.0) << load.output;
  EXPECT_GE(load.number("/latencyMs/max"), 300.0);
  EXPECT_GE(load.count("/late/started"), 200U);
  EXPECT_GE(load.count("/late/backlog"), 200U);
}

TEST(LabLoad, what_got_no_answer_is_a_failure_and_shows_in_the_percentiles) {
  ScriptedServer server([](const Call&) { return Reply{.bytes = "", .then = Then::stall}; });
  Load load;
  run(load,
      {server.url("/"), "--rate", "100", "--connections", "2", "--duration", "200ms", "--timeout", "200ms", "--json"});
  EXPECT_EQ(load.exit_code, 1);
  EXPECT_EQ(load.count("/requests/intended"), 20U);
  EXPECT_EQ(load.count("/errors/timeout") + load.count("/errors/unsent"), 20U) << load.output;
  EXPECT_EQ(load.count("/latencyMs/count"), 20U);
  EXPECT_GE(load.number("/latencyMs/p50"), 100.0);
}

TEST(LabLoad, unwanted_statuses_are_failures_unless_accepted) {
  ScriptedServer server([](const Call&) { return Reply{"HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n"}; });
  Load refused;
  run(refused, {server.url("/"), "--requests", "10", "--json"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.count("/statuses/429"), 10U);
  Load accepted;
  run(accepted, {server.url("/"), "--requests", "10", "--accept", "429"});
  EXPECT_EQ(accepted.exit_code, 0) << accepted.output;
}

TEST(LabLoad, a_server_that_closes_after_each_answer_is_connected_to_again) {
  ScriptedServer server([](const Call&) {
    return Reply{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", Then::close};
  });
  Load load;
  run(load, {server.url("/"), "--requests", "20", "--connections", "2", "--json"});
  EXPECT_EQ(load.exit_code, 0) << load.output;
  EXPECT_EQ(load.count("/traffic/connectionsMade"), 20U);
}

TEST(LabLoad, connections_can_be_opened_before_anything_is_asked) {
  ScriptedServer server([](const Call&) { return ok(); });
  Load load;
  run(load, {server.url("/"), "--requests", "1", "--connections", "7", "--connect-first", "--json"});
  EXPECT_EQ(load.exit_code, 0) << load.output;
  EXPECT_EQ(load.count("/requests/answered"), 1U);
  EXPECT_EQ(load.count("/traffic/connectionsMade"), 7U);
}

TEST(LabLoad, event_streams_are_counted_and_opened_again) {
  ScriptedServer server([](const Call&) {
    return Reply{"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hi\n\nid: 5\ndata: a\n\ndata: b\n\n",
                 Then::close};
  });
  Load load;
  run(load, {server.url("/"), "--sse", "--connections", "3", "--duration", "3s", "--reconnect", "50ms", "--json"});
  ASSERT_EQ(load.exit_code, 0) << load.output;
  EXPECT_GE(load.count("/streams/opened"), 6U);
  EXPECT_GE(load.count("/streams/reopened"), 3U);
  EXPECT_EQ(load.count("/streams/events"), 2 * load.count("/streams/comments"));
  EXPECT_EQ(load.count("/firstEventMs/count"), load.count("/streams/opened"));
  const auto requests = server.requests();
  const auto comes_back = [](const std::string& request) { return request.contains("Last-Event-ID: 5\r\n"); };
  EXPECT_GE(std::ranges::count_if(requests, comes_back), 3);
}

TEST(LabLoad, other_machines_and_nonsense_are_refused) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"http://192.0.2.1/"},
                                             {"nonsense"},
                                             {"http://127.0.0.1:1/", "--duration", "soon"},
                                             {"http://127.0.0.1:1/", "--sse", "--connect-first"},
                                             {}}) {
    Load load;
    run(load, arguments);
    EXPECT_EQ(load.exit_code, 2) << load.output;
  }
}

TEST(LabLoad, help_has_an_example) {
  Load load;
  run(load, {"--help"});
  EXPECT_EQ(load.exit_code, 0);
  EXPECT_TRUE(load.output.contains("sluice-lab load http://")) << load.output;
}

TEST(Lab, an_unknown_command_is_named) {
  Process process({.arguments = {test::binary("sluice-lab"), "lod"}});
  EXPECT_EQ(process.wait(), 2);
  EXPECT_NE(process.output().find("there is no command lod in sluice-lab; did you mean load?"), std::string::npos);
}

}  // namespace
}  // namespace sluice
