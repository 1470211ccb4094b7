// What a client of the HTTP server sees, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/test_server.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HttpServer, a_connection_serves_one_request_after_the_other) {
  const TestServer server;
  RawClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    const RawResponse response = client.get("/hello");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "hello");
    EXPECT_THAT(response.head, HasSubstr("Date: "));
    EXPECT_THAT(response.head, Not(HasSubstr("Connection:")));
  }
}

TEST(HttpServer, pipelined_requests_are_answered_in_order) {
  const TestServer server;
  RawClient client(server.port());
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += "GET /items/" + std::to_string(i) + " HTTP/1.1\r\nHost: test\r\n\r\n";
  client.send(requests);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.read_response().body, std::to_string(i) + " -");
}

TEST(HttpServer, a_request_may_arrive_byte_by_byte) {
  const TestServer server;
  RawClient client(server.port());
  const std::string request =
      "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  for (const char c : request) client.send({&c, 1});
  EXPECT_EQ(client.read_response().body, "{}");
}

}  // namespace
}  // namespace sluice::test
