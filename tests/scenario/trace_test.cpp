// One trace through the server: from the caller, into the log, on to the origin.
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/raw_client.h"
#include "tests/support/scripted_server.h"
#include "tests/support/sluice_server.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

TEST(TraceScenario, the_trace_of_a_caller_is_logged_and_goes_on_to_the_origin) {
  const std::string traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  ScriptedServer origin([](const ScriptedServer::Call&) {
    return ScriptedServer::Reply{.bytes =
                                     "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ntext"};
  });
  const TemporaryFolder folder;
  const std::string config = (folder / "sluice.toml").string();
  // Limits that a busy machine cannot reach: a pause may spend a permit for nothing.
  std::ofstream(config) << fmt::format(
      "[[documents.origin]]\nname = \"a\"\nbase_url = \"{}\"\nmax_per_second = 1000\nstrangers_per_second = 1000\n"
      "wait_limit = \"20s\"\n",
      origin.url("/"));
  SluiceServer sluice({.data = folder / "data", .config = config});
  const std::string header = fmt::format("traceparent: {}\r\n", traceparent);
  EXPECT_EQ(RawClient(sluice.port()).get("/api/v1/documents/a/one.txt", header).body, "text");
  ASSERT_EQ(origin.requests().size(), 1U);
  EXPECT_THAT(origin.requests().at(0), HasSubstr(header));

  // Without one from the caller it gets one of its own, which is the same in the log and at the origin.
  EXPECT_EQ(RawClient(sluice.port()).get("/api/v1/documents/a/two.txt").body, "text");
  const std::string second = origin.requests().at(1);
  const size_t at = second.find("traceparent: 00-");
  ASSERT_NE(at, std::string::npos) << second;
  EXPECT_EQ(sluice.stop(), 0);
  for (const std::string& one : {traceparent, second.substr(at + 13, 55)}) {
    EXPECT_THAT(sluice.process().output(), HasSubstr(fmt::format("\"traceparent\":\"{}\"", one)));
  }
}

}  // namespace
}  // namespace sluice::test
