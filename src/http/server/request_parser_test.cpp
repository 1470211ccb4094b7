#include "http/server/request_parser.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

using State = RequestParser::State;

// Parses in pieces of `step` bytes, as a connection does; returns the unused bytes.
struct Parsed {
  RequestParser parser{{.head_bytes = 400, .target_bytes = 100, .header_count = 5}};
  std::string body;
  std::string left;
};

std::unique_ptr<Parsed> parse(std::string_view bytes, size_t step, uint64_t body_limit = 1000) {
  auto result = std::make_unique<Parsed>();
  while (true) {
    const State state = result->parser.state();
    if (state == State::done || state == State::failed) break;
    if (state == State::body) result->parser.limit_body(body_limit);
    const size_t used = result->left.empty() ? 0 : result->parser.parse(result->left, result->body);
    result->left.erase(0, used);
    if (result->parser.state() != state) continue;
    if (bytes.empty()) break;
    result->left.append(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  return result;
}

constexpr std::string_view chunked =
    "POST /a?b=c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nX-Y:  z \r\n\r\n"
    "3\r\nabc\r\n2;name=\"v\"\r\nde\r\n0\r\nTrailer: t\r\n\r\n";

TEST(RequestParser, the_size_of_the_pieces_does_not_matter) {
  for (size_t step = 1; step <= chunked.size(); ++step) {
    const auto parsed = parse(chunked, step);
    ASSERT_EQ(parsed->parser.state(), State::done) << step;
    const RequestHead& head = parsed->parser.head();
    EXPECT_EQ(head.method, Method::post);
    EXPECT_EQ(head.target, "/a?b=c");
    EXPECT_EQ(head.headers.get("x-y"), "z");
    EXPECT_EQ(head.headers.size(), 3U);  // no trailer
    EXPECT_TRUE(head.keep_alive);
    EXPECT_EQ(parsed->body, "abcde");
  }
}

TEST(RequestParser, a_host_is_a_name_or_an_address_with_or_without_a_port) {
  for (const std::string host : {"", "a", "a.example:80", "127.0.0.1", "[::1]:8080", "caf%C3%A9", "a_b"}) {
    const auto parsed = parse("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n", 1000);
    EXPECT_EQ(parsed->parser.state(), State::done) << host;
  }
}

TEST(RequestParser, an_empty_chunked_body_may_come_in_any_pieces) {
  for (size_t step = 1; step < 10; ++step) {
    const auto parsed = parse("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", step);
    EXPECT_EQ(parsed->parser.state(), State::done) << step;
    EXPECT_EQ(parsed->body, "");
  }
}

TEST(RequestParser, the_end_of_a_chunk_is_given_out_as_soon_as_it_is_there) {
  const auto parsed = parse("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc", 1);
  EXPECT_EQ(parsed->parser.state(), State::body);
  EXPECT_EQ(parsed->body, "abc");
}

TEST(RequestParser, what_follows_is_left_for_the_next_request) {
  const auto parsed = parse("GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP", 1000);
  EXPECT_EQ(parsed->parser.state(), State::done);
  EXPECT_EQ(parsed->left, "GET /b HTTP");
}

TEST(RequestParser, it_can_be_used_again) {
  RequestParser parser({});
  std::string body;
  for (int i = 0; i < 3; ++i) {
    parser.reset();
    EXPECT_FALSE(parser.started());
    parser.parse("GET /a HTTP/1.0\r\nX: y\r\n\r\n", body);
    EXPECT_EQ(parser.state(), State::done);
    EXPECT_EQ(parser.head().headers.size(), 1U);
    EXPECT_FALSE(parser.head().keep_alive);
  }
}

struct Refused {
  std::string bytes;
  ParseError error;
};

class RequestParserRefuses : public testing::TestWithParam<Refused> {};

TEST_P(RequestParserRefuses, in_pieces_of_every_size) {
  for (size_t step = 1; step < 40; step += 3) {
    const auto parsed = parse(GetParam().bytes, step, 10);
    ASSERT_EQ(parsed->parser.state(), State::failed) << GetParam().bytes;
    EXPECT_EQ(parsed->parser.error(), GetParam().error) << GetParam().bytes;
  }
}

std::string get(const std::string& fields) {
  return "GET /a HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n";
}

INSTANTIATE_TEST_SUITE_P(
    Heads, RequestParserRefuses,
    testing::Values(
        Refused{get("A: b\r\n c\r\n"), ParseError::malformed}, Refused{get("A:\r\n\tc\r\n"), ParseError::malformed},
        Refused{get("A: \r\n \r\n"), ParseError::malformed}, Refused{get("A : b\r\n"), ParseError::malformed},
        Refused{get("Host: y\r\n"), ParseError::malformed}, Refused{"GET /a HTTP/1.1\r\n\r\n", ParseError::malformed},
        Refused{"GET  /a HTTP/1.1\r\n\r\n", ParseError::malformed},
        Refused{"GET /a HTTP/1.1\r\nHost: a b\r\n\r\n", ParseError::malformed},
        Refused{"GET /a HTTP/1.1\r\nHost: a/b\r\n\r\n", ParseError::malformed},
        Refused{"GET /a HTTP/1.1\r\nHost: a\\b\r\n\r\n", ParseError::malformed},
        Refused{"GET /a HTTP/1.1\r\nHost: me@a\r\n\r\n", ParseError::malformed},
        Refused{get("Authorization: Bearer a\r\nauthorization: Bearer b\r\n"), ParseError::malformed},
        Refused{get("Idempotency-Key: a\r\nidempotency-key: a\r\n"), ParseError::malformed},
        Refused{get("Content-Type: a/b\r\nContent-Type: a/c\r\n"), ParseError::malformed},
        Refused{get("Content-Length: 1\r\nContent-Length: 1\r\n"), ParseError::malformed},
        Refused{get("Content-Length: +1\r\n"), ParseError::malformed},
        Refused{get("Content-Length: 99999999999999999999\r\n"), ParseError::malformed},
        Refused{get("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), ParseError::malformed},
        Refused{get("Transfer-Encoding: chunked, chunked\r\n"), ParseError::unknown_coding},
        Refused{get("Transfer-Encoding: identity\r\n"), ParseError::unknown_coding},
        Refused{"GET /" + std::string(200, 'a') + " HTTP/1.1\r\n\r\n", ParseError::target_too_long},
        Refused{"GET /" + std::string(500, 'a'), ParseError::target_too_long},
        Refused{get("A: " + std::string(500, 'a')), ParseError::head_too_large},
        Refused{get("A: b\r\nB: b\r\nC: b\r\nD: b\r\nE: b\r\n"), ParseError::too_many_headers},
        Refused{get("Content-Length: 11\r\n") + "12345678901", ParseError::body_too_large},
        Refused{get("Transfer-Encoding: chunked\r\n") + "b\r\n12345678901\r\n0\r\n\r\n", ParseError::body_too_large},
        Refused{get("Transfer-Encoding: chunked\r\n") + "g\r\n\r\n", ParseError::malformed},
        Refused{get("Transfer-Encoding: chunked\r\n") + "0\r\nA: b\r\n c\r\n\r\n", ParseError::malformed},
        Refused{get("Transfer-Encoding: chunked\r\n") + "0\r\nA: a\r\nB: b\r\nC: c\r\nD: d\r\nE: e\r\nF: f\r\n\r\n",
                ParseError::too_many_headers},
        Refused{get("Transfer-Encoding: chunked\r\n") + "ZZ\r\n", ParseError::malformed},
        Refused{get("Transfer-Encoding: chunked\r\n") + "Z", ParseError::malformed},
        Refused{get("Transfer-Encoding: chunked\r\n") + "1;a=\"\n\"\r\na\r\n", ParseError::malformed},
        Refused{get("Transfer-Encoding: chunked\r\n") + "0;a=\"\n\"\r\n\r\n", ParseError::malformed},
        Refused{get("Transfer-Encoding: chunked\r\n") + "\r\n", ParseError::malformed},
        Refused{get("Transfer-Encoding: chunked\r\n") + "1Z", ParseError::malformed},
        Refused{get("Transfer-Encoding: chunked\r\n") + "1\r\na\rX", ParseError::malformed},
        Refused{get("Transfer-Encoding: chunked\r\n") + "1\r\na\r\nX", ParseError::malformed},
        Refused{get("Transfer-Encoding: chunked\r\n") + "1\r\naXXXX\r\n", ParseError::malformed}));

}  // namespace
}  // namespace sluice::http
