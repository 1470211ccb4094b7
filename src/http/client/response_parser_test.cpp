#include "http/client/response_parser.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

using Event = ResponseParser::Event;

struct Read {
  Event last = Event::need_more;
  int status = 0;
  int interim = 0;
  std::string body;
  std::string problem;
  size_t left = 0;  // bytes behind the end
  bool keep_alive = false;

  bool operator==(const Read&) const = default;
};

// Reads an answer that arrives in pieces of `piece` bytes, and after which the peer closes.
Read read_in_pieces(std::string_view bytes, size_t piece, bool to_head = false, size_t max_head = 1024) {
  ResponseParser parser({.max_head = max_head, .keep_headers = true});
  parser.start(to_head);
  Read read;
  std::string buffer;
  while (true) {
    const auto step = parser.next(buffer);
    if (step.event == Event::body) read.body += step.piece;
    if (step.event == Event::interim) ++read.interim;
    if (step.event == Event::head) read.status = parser.status();
    buffer.erase(0, step.consumed);
    read.last = step.event;
    if (step.event == Event::end || step.event == Event::bad || step.event == Event::too_large) break;
    if (step.event != Event::need_more) continue;
    if (bytes.empty()) {
      read.last = parser.closed();
      break;
    }
    buffer += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(bytes.size(), piece));
  }
  read.problem = parser.problem();
  read.left = read.last == Event::end ? buffer.size() + bytes.size() : 0;
  read.keep_alive = parser.keep_alive();
  return read;
}

Read read(std::string_view bytes, bool to_head = false) {
  const Read whole = read_in_pieces(bytes, bytes.size() + 1, to_head);
  for (const size_t piece : {1, 2, 7}) {
    const Read pieces = read_in_pieces(bytes, piece, to_head);
    EXPECT_EQ(pieces, whole) << "in pieces of " << piece << ": " << bytes;
  }
  return whole;
}

TEST(ResponseParser, reads_an_answer_with_a_length) {
  const Read answer = read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello");
  EXPECT_EQ(answer.last, Event::end);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "hello");
  EXPECT_TRUE(answer.keep_alive);
}

TEST(ResponseParser, keeps_headers_in_order) {
  ResponseParser parser;
  parser.start(false);
  const std::string_view bytes = "HTTP/1.1 204 No Content\r\nB:  two \t\r\nA:\r\n\r\n";
  EXPECT_EQ(parser.next(bytes).event, Event::head);
  EXPECT_EQ(parser.headers().size(), 2U);
  EXPECT_EQ(parser.headers().get("b"), "two");
  EXPECT_EQ(parser.headers().find("a"), "");
  EXPECT_EQ(parser.next("").event, Event::end);
}

TEST(ResponseParser, reads_chunks_extensions_and_trailers) {
  const Read answer = read(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "5;a=b\r\nhello\r\n06 \r\n world\r\n0\r\nTrailer: x\r\n\r\n");
  EXPECT_EQ(answer.last, Event::end);
  EXPECT_EQ(answer.body, "hello world");
  EXPECT_TRUE(answer.keep_alive);
}

TEST(ResponseParser, reads_until_the_peer_closes) {
  const Read answer = read("HTTP/1.1 200\r\n\r\nall of it");
  EXPECT_EQ(answer.last, Event::end);
  EXPECT_EQ(answer.body, "all of it");
  EXPECT_FALSE(answer.keep_alive);
}

TEST(ResponseParser, knows_answers_without_a_body) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true).last, Event::end);
  EXPECT_EQ(read("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n").last, Event::end);
  EXPECT_EQ(read("HTTP/1.1 204 No Content\r\n\r\n").last, Event::end);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").last, Event::end);
}

TEST(ResponseParser, skips_interim_answers) {
  const Read answer =
      read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 Done\r\n\r\n");
  EXPECT_EQ(answer.last, Event::end);
  EXPECT_EQ(answer.interim, 2);
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(read("HTTP/1.1 101 Switching\r\n\r\n").last, Event::bad);
}

TEST(ResponseParser, leaves_what_is_behind_the_end) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc").left, 2U);
}

TEST(ResponseParser, knows_whether_the_connection_goes_on) {
  EXPECT_FALSE(read("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x, Close\r\n\r\n").keep_alive);
  EXPECT_FALSE(read("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").keep_alive);
  EXPECT_TRUE(read("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
}

TEST(ResponseParser, refuses_what_could_be_read_in_two_ways) {
  for (const std::string_view bad : {
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
           "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
           "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
           "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\nhello",
           "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
           "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
           "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n",
           "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
           "HTTP/1.1 200 OK\r\nA: b\nContent-Length: 1\r\n\r\n",
           "HTTP/1.1 200 OK\r\nA: b\x01\r\n\r\n",
           "HTTP/1.1 200 OK\r\n: b\r\n\r\n",
           "HTTP/1.1 200 OK\r\nnothing\r\n\r\n",
           "HTTP/2 200 OK\r\n\r\n",
           "HTTP/1.2 200 OK\r\n\r\n",
           "HTTP/1.1 20 OK\r\n\r\n",
           "HTTP/1.1 2000 OK\r\n\r\n",
           "HTTP/1.1  200 OK\r\n\r\n",
           "HTTP/1.1 099 OK\r\n\r\n",
           "http/1.1 200 OK\r\n\r\n",
           "<html>\r\n\r\n",
       }) {
    EXPECT_EQ(read(bad).last, Event::bad) << bad;
  }
}

TEST(ResponseParser, refuses_broken_chunks) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string_view bad :
       {"5\r\nhello!\r\n0\r\n\r\n", "\r\nhello\r\n", "g\r\n", "-1\r\nx\r\n", "0x5\r\nhello\r\n",
        "5\nhello\r\n0\r\n\r\n", "11111111111111111\r\n", "0\r\nbad trailer\r\n\r\n", "5\r\nhel"}) {
    EXPECT_EQ(read(head + std::string(bad)).last, Event::bad) << bad;
  }
}

TEST(ResponseParser, an_answer_that_stops_in_the_middle_is_bad) {
  for (const std::string_view bad : {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"}) {
    EXPECT_EQ(read(bad).last, Event::bad) << bad;
  }
}

TEST(ResponseParser, bounds_the_head_and_the_trailers) {
  const std::string filler(2000, 'x');
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nA: " + filler + "\r\n\r\n").last, Event::too_large);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nA: " + filler).last, Event::too_large);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: " + filler + "\r\n\r\n").last,
            Event::too_large);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + filler + "\r\nx\r\n").last, Event::bad);
}

}  // namespace
}  // namespace sluice::http
