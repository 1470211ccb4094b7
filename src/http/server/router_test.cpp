#include "http/server/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::http {
namespace {

Task<Response> nothing(Request&) {
  co_return Response::empty(204);
}

struct RouterTest : testing::Test {
  void add(Method method, std::string_view pattern) { router.add(method, pattern, nothing); }
  // The pattern that answers, with its parameters; or the methods there are; or "none".
  std::string find(std::optional<Method> method, std::string_view path) {
    std::vector<PathParam> params;
    const Router::Match match = router.match(method, path, params);
    std::string out = match.route != nullptr ? match.route->pattern : "none";
    for (const Method allowed : match.allowed) out.append(" ").append(name(allowed));
    for (const PathParam& param : params) out += fmt::format(" {}={}", param.name, param.value);
    return out;
  }
  Router router;
};

TEST_F(RouterTest, the_root_is_a_path) {
  add(Method::get, "/");
  EXPECT_EQ(find(Method::get, "/"), "/");
  EXPECT_EQ(find(Method::get, "/a"), "none");
}

TEST_F(RouterTest, a_literal_beats_a_type_beats_a_parameter_beats_the_rest) {
  add(Method::get, "/a/{rest...}");
  add(Method::get, "/a/{any}");
  add(Method::get, "/a/{number:int}");
  add(Method::get, "/a/{id:uuid}");
  add(Method::get, "/a/me");
  EXPECT_EQ(find(Method::get, "/a/me"), "/a/me");
  EXPECT_EQ(find(Method::get, "/a/-12"), "/a/{number:int} number=-12");
  EXPECT_EQ(find(Method::get, "/a/018f4e1c-6d2a-7c3e-9f10-0242ac120002"),
            "/a/{id:uuid} id=018f4e1c-6d2a-7c3e-9f10-0242ac120002");
  EXPECT_EQ(find(Method::get, "/a/12x"), "/a/{any} any=12x");
  EXPECT_EQ(find(Method::get, "/a/b/c"), "/a/{rest...} rest=b/c");
  EXPECT_EQ(find(Method::get, "/a"), "none");
}

TEST_F(RouterTest, a_choice_that_leads_nowhere_is_taken_back) {
  add(Method::get, "/a/me/settings");
  add(Method::get, "/a/{id}/posts/{post:int}");
  add(Method::get, "/{rest...}");
  EXPECT_EQ(find(Method::get, "/a/me/posts/7"), "/a/{id}/posts/{post:int} id=me post=7");
  EXPECT_EQ(find(Method::get, "/a/me/posts/x"), "/{rest...} rest=a/me/posts/x");
}

TEST_F(RouterTest, a_segment_of_the_wrong_type_is_not_found) {
  add(Method::get, "/a/{id:uuid}");
  add(Method::get, "/b/{n:int}");
  EXPECT_EQ(find(Method::get, "/a/7"), "none");
  EXPECT_EQ(find(Method::get, "/b/7.5"), "none");
  EXPECT_EQ(find(Method::get, "/b/99999999999999999999"), "none");
}

TEST_F(RouterTest, a_missing_method_names_those_there_are) {
  add(Method::get, "/a");
  add(Method::post, "/a");
  EXPECT_EQ(find(Method::del, "/a"), "none GET POST HEAD");
  EXPECT_EQ(find(Method::head, "/a"), "/a");
}

TEST_F(RouterTest, a_method_that_is_not_ours_is_one_the_path_lacks) {
  add(Method::get, "/a");
  EXPECT_EQ(find(std::nullopt, "/a"), "none GET HEAD");
  EXPECT_EQ(find(std::nullopt, "/b"), "none");
}

TEST_F(RouterTest, methods_may_name_a_parameter_differently) {
  add(Method::get, "/a/{id:int}");
  add(Method::put, "/a/{key:int}");
  EXPECT_EQ(find(Method::put, "/a/1"), "/a/{key:int} key=1");
}

TEST_F(RouterTest, a_malformed_or_doubled_pattern_is_a_mistake_of_ours) {
  add(Method::get, "/a");
  EXPECT_DEATH(add(Method::get, "/a"), "added twice");
  EXPECT_DEATH(add(Method::get, "b"), "begin with a slash");
  EXPECT_DEATH(add(Method::get, "/b//c"), "empty segment");
  EXPECT_DEATH(add(Method::get, "/{a...}/b"), "after its rest");
  EXPECT_DEATH(add(Method::get, "/{a:float}"), "unknown type");
}

}  // namespace
}  // namespace sluice::http
