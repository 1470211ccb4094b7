// The small parts that make an answer: compression, conditions, problems, names, events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/gunzip.h"
#include "http/gzip.h"
#include "http/problem.h"
#include "http/server/conditional.h"
#include "http/server/trace.h"
#include "http/sse/sse.h"

namespace sluice::http {
namespace {

TEST(Gzip, is_used_only_where_it_is_accepted) {
  for (const char* accepted : {"gzip", "br, GZIP;q=0.5", "deflate, *", "*;q=0.1"}) EXPECT_TRUE(accepts_gzip(accepted));
  for (const char* refused : {"", "br", "gzip;q=0", "gzip; q=0.000", "*;q=0", "gzip;q=0, *", "xgzip"}) {
    EXPECT_FALSE(accepts_gzip(refused)) << refused;
  }
}

TEST(Gzip, shrinks_text_and_leaves_pictures) {
  EXPECT_TRUE(is_compressible("application/problem+json"));
  EXPECT_TRUE(is_compressible("text/html; charset=utf-8"));
  EXPECT_FALSE(is_compressible("image/png"));
  EXPECT_FALSE(is_compressible("text/event-stream"));
  EXPECT_FALSE(is_compressible(""));
}

TEST(Gzip, whole_or_in_pieces_reads_the_same) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * i);
  Gzip gzip;
  for (int round = 0; round < 2; ++round) {
    Gunzip gunzip;
    std::string out;
    EXPECT_EQ(gunzip.write(gzip.compress(text), out, 1 << 20), Gunzip::State::end);
    EXPECT_EQ(out, text);
  }
  Gzip pieces;
  const std::string packed = pieces.add(text.substr(0, 1000)) + pieces.add(text.substr(1000)) + pieces.finish();
  Gunzip gunzip;
  std::string out;
  EXPECT_EQ(gunzip.write(packed, out, 1 << 20), Gunzip::State::end);
  EXPECT_EQ(out, text);
}

TEST(Conditional, tags_compare_weakly) {
  EXPECT_TRUE(etag_matches("\"a\", W/\"b\"", "\"b\""));
  EXPECT_TRUE(etag_matches("\"b\"", "W/\"b\""));
  EXPECT_TRUE(etag_matches("*", "\"b\""));
  EXPECT_FALSE(etag_matches("\"a\"", "\"b\""));
  EXPECT_FALSE(etag_matches("", "\"b\""));
  EXPECT_FALSE(etag_matches("*", ""));
}

TEST(Conditional, only_a_200_becomes_a_304) {
  Response created = Response::json(201, "{}");
  created.headers.add("ETag", "\"x\"");
  answer_condition("\"x\"", created);
  EXPECT_EQ(created.status, 201);
  EXPECT_NE(etag_of("a"), etag_of("b"));
}

TEST(Problem, says_what_is_wrong_and_where) {
  const Problem problem{.status = 422,
                        .code = "too-many-seats",
                        .title = "Too many seats.",
                        .detail = "At most \"4\"\n",
                        .field = "seats[4]",
                        .retry_after = Duration{1500ms}};
  const Response response = problem.to_response("id-1");
  EXPECT_EQ(response.headers.get("Content-Type"), "application/problem+json");
  EXPECT_EQ(response.headers.get("Retry-After"), "2");
  EXPECT_EQ(std::get<std::string>(response.body),
            R"({"type":"urn:sluice:problem:too-many-seats","title":"Too many seats.","status":422,)"
            R"("code":"too-many-seats","detail":"At most \"4\"\n","field":"seats[4]","requestId":"id-1"})");
}

TEST(Trace, ids_are_taken_over_only_where_they_are_harmless) {
  EXPECT_TRUE(is_request_id("A-z_0.9"));
  for (const std::string& id : {std::string(), std::string("a b"), std::string("a\"b"), std::string(129, 'a')}) {
    EXPECT_FALSE(is_request_id(id)) << id;
  }
  EXPECT_FALSE(is_traceparent("00-00000000000000000000000000000000-b7ad6b7169203331-01"));
  EXPECT_FALSE(is_traceparent("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  EXPECT_FALSE(is_traceparent("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"));
}

TEST(Trace, made_names_differ_and_belong_together) {
  SeededRandom random(1);
  std::string id;
  std::string trace;
  name_request("", "", random, id, trace);
  const std::string first = id;
  EXPECT_TRUE(is_traceparent(trace));
  EXPECT_EQ(trace.substr(3, 32), id);
  name_request("", "", random, id, trace);
  EXPECT_NE(id, first);
}

TEST(SseEvent, line_breaks_cannot_forge_a_field) {
  EXPECT_EQ(*format_event({.id = "1\n2", .type = "A\r\nB", .data = "x\r\ny\n"}),
            "id: 12\nevent: AB\ndata: x\ndata: y\ndata: \n\n");
  EXPECT_EQ(*format_event({}), "data: \n\n");
}

}  // namespace
}  // namespace sluice::http
