#include <regex>
#include <set>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "accounts/testing/pretend_audit_log.h"
#include "api/dead_letter_view.h"
#include "api/idempotency.h"
#include "api/openapi.h"
#include "api/problems.h"
#include "api/query.h"
#include "api/system_routes.h"
#include "base/json_reader.h"
#include "runtime/errors.h"
#include "runtime/virtual_clock.h"

namespace sluice::api {
namespace {

// Knows one of each role by its token.
class FixedCallers : public accounts::Callers {
 public:
  Task<std::optional<accounts::Caller>> identify(std::string token) override {
    if (token == "service-token") co_return accounts::Caller{{}, accounts::Role::service, "worker"};
    if (token == "admin-token") co_return accounts::Caller{{}, accounts::Role::admin, "ops"};
    if (token == "user-token") co_return accounts::Caller{{}, accounts::Role::user, "kim"};
    co_return std::nullopt;
  }
};

Task<http::Response> count_entries(accounts::PretendAuditLog& audit) {
  co_return http::Response::text(200, std::to_string(audit.rows.size()));
}

Task<http::Response> say_who(Call call) {
  co_return http::Response::text(200, call.caller ? call.caller->name : "nobody");
}

struct ApiTest : testing::Test {
  ApiTest() {
    api.add({.pattern = "/open", .tag = "test", .summary = "Open.", .action = say_who});
    api.add({.method = http::Method::post,
             .pattern = "/api/v1/things/{id:uuid}/{path...}",
             .tag = "test",
             .summary = "For services.",
             .role = accounts::Role::service,
             .query = {{"limit", "How many."}},
             .body_schema = R"({"type":"object"})",
             .answers = {{201, "Made."}},
             .problems = {{410, "thing-gone", "It is gone."}},
             .action = say_who});
    api.add({.pattern = "/admin/{thing}",
             .tag = "test",
             .summary = "For administrators.",
             .role = accounts::Role::admin,
             .action = [this](const Call&) { return count_entries(audit); }});
    add_health_routes(api, clock, readiness, scope, context.get_executor());
    add_docs_routes(api, "1.2.3");
    api.install(router);
  }

  http::Response call(http::Method method, std::string path, std::string authorization = "") {
    http::Request request;
    request.method = method;
    request.path = std::move(path);
    request.target = request.path;
    request.client_address = "10.0.0.1";
    request.request_id = "request-1";
    http::Headers headers;
    if (!authorization.empty()) headers.add("Authorization", authorization);
    request.headers = &headers;
    const http::Router::Match match = router.match(method, request.path, request.params);
    EXPECT_NE(match.route, nullptr);
    std::optional<http::Response> answer;
    asio::co_spawn(context, match.route->handler(request),
                   [&answer](const std::exception_ptr& error, http::Response got) {
                     if (error) std::rethrow_exception(error);
                     answer = std::move(got);
                   });
    clock.run(context);
    return std::move(*answer);
  }

  static constexpr std::string_view thing = "/api/v1/things/018f4e1c-6d2a-7c3e-9f10-0242ac120002/a/b";

  asio::io_context context;
  VirtualClock clock;
  TaskScope scope{context.get_executor()};
  FixedCallers callers;
  accounts::PretendAuditLog audit{clock};
  Readiness readiness;
  Api api{callers, audit};
  http::Router router;
};

TEST_F(ApiTest, a_role_is_asked_for_before_anything_else) {
  EXPECT_EQ(call(http::Method::post, std::string(thing)).status, 401);
  EXPECT_EQ(call(http::Method::post, std::string(thing)).headers.get("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(call(http::Method::post, std::string(thing), "Bearer wrong").status, 401);
  EXPECT_EQ(call(http::Method::post, std::string(thing), "Basic service-token").status, 401);
  EXPECT_EQ(call(http::Method::post, std::string(thing), "Bearer user-token").status, 403);
  EXPECT_EQ(call(http::Method::post, std::string(thing), "bearer service-token").status, 200);
}

TEST_F(ApiTest, what_needs_an_administrator_is_recorded_before_it_is_done) {
  EXPECT_EQ(std::get<std::string>(call(http::Method::get, "/admin/a", "Bearer admin-token").body), "1");
  ASSERT_EQ(audit.rows.size(), 1U);
  const accounts::AuditEntry& entry = audit.rows[0].entry;
  EXPECT_THAT(entry.actor, testing::StartsWith("ops (key "));
  EXPECT_EQ(entry.action, "GET /admin/{thing}");
  EXPECT_EQ(entry.target, "/admin/a");
  EXPECT_EQ(entry.address, "10.0.0.1");
  EXPECT_EQ(entry.request_id, "request-1");
}

TEST_F(ApiTest, what_needs_no_administrator_or_is_refused_is_not_recorded) {
  EXPECT_EQ(call(http::Method::get, "/admin/a", "Bearer service-token").status, 403);
  EXPECT_EQ(call(http::Method::get, "/admin/a").status, 401);
  EXPECT_EQ(call(http::Method::post, std::string(thing), "Bearer admin-token").status, 200);
  EXPECT_TRUE(audit.rows.empty());
}

TEST_F(ApiTest, what_cannot_be_recorded_is_not_done) {
  audit.away = true;
  EXPECT_THROW(call(http::Method::get, "/admin/a", "Bearer admin-token"), EngineUnavailable);
}

TEST_F(ApiTest, an_open_route_asks_nobody) {
  EXPECT_EQ(std::get<std::string>(call(http::Method::get, "/open", "Bearer wrong").body), "nobody");
}

TEST_F(ApiTest, openapi_tells_of_every_route_and_of_no_other) {
  const auto document = json::Document::parse(openapi_document(api, "1.2.3"));
  ASSERT_TRUE(document);
  std::set<std::string> told;
  const std::string text = openapi_document(api, "1.2.3");
  for (const auto& route : router.routes()) {
    const std::string path = openapi_path(route->pattern);
    EXPECT_NE(text.find("\"" + path + "\":{"), std::string::npos) << path;
    told.insert(path + " " + std::string(name(route->method)));
  }
  EXPECT_EQ(told.size(), router.routes().size());
  EXPECT_EQ(router.routes().size(), api.endpoints().size());
  const std::string page = docs_page(api, "1.2.3");
  for (const auto& endpoint : api.endpoints()) {
    EXPECT_NE(page.find(openapi_path(endpoint->pattern)), std::string::npos) << endpoint->pattern;
  }
}

TEST(OpenApiPath, leaves_types_out) {
  EXPECT_EQ(openapi_path("/a/{id:uuid}/b/{path...}"), "/a/{id}/b/{path}");
  EXPECT_EQ(openapi_path("/style.css"), "/style.css");
  EXPECT_EQ(openapi_path("/{a}{b:int}x"), "/{a}{b}x");
}

Task<> fails() {
  throw EngineUnavailable("sqlite", "disk on fire");
  co_return;
}
Task<> hangs(Clock& clock) {
  co_await clock.sleep_for(24h);
}
Task<> answers() {
  co_return;
}

TEST_F(ApiTest, readiness_names_the_engine_that_does_not_answer) {
  readiness.engines = {{"sqlite", fails}, {"redis", answers}, {"kafka", [this] { return hangs(clock); }}};
  const http::Response response = call(http::Method::get, "/readyz");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.headers.get("Retry-After"), "1");
  EXPECT_EQ(std::get<std::string>(response.body),
            R"({"status":"not-ready","engines":{"sqlite":"down","redis":"up","kafka":"down"}})");
}

Task<> counts(int& asked) {
  ++asked;
  co_return;
}

TEST_F(ApiTest, a_crowd_that_asks_for_readiness_costs_each_engine_one_probe_a_second) {
  int asked = 0;
  readiness.engines = {{"sqlite", [&asked] { return counts(asked); }}};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(call(http::Method::get, "/readyz").status, 200);
  EXPECT_EQ(asked, 1);
  clock.advance(1s);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(call(http::Method::get, "/readyz").status, 200);
  EXPECT_EQ(asked, 2);
}

Task<> throws_unexpectedly() {
  throw std::logic_error("statement refused");
  co_return;
}

TEST_F(ApiTest, a_probe_that_throws_something_unexpected_is_a_failed_probe) {
  readiness.engines = {{"sqlite", throws_unexpectedly}};
  const http::Response response = call(http::Method::get, "/readyz");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(std::get<std::string>(response.body), R"({"status":"not-ready","engines":{"sqlite":"down"}})");
}

TEST_F(ApiTest, a_draining_server_is_not_ready) {
  readiness.draining = true;
  EXPECT_EQ(call(http::Method::get, "/readyz").status, 503);
  EXPECT_EQ(call(http::Method::get, "/healthz").status, 200);
}

TEST_F(ApiTest, openapi_names_role_problems_and_headers_of_an_endpoint) {
  const std::string text = openapi_document(api, "1.2.3");
  const std::string thing_part = text.substr(text.find(R"("/api/v1/things/{id}/{path}")"));
  const std::string operation = thing_part.substr(0, thing_part.find(R"("/docs")"));
  EXPECT_THAT(operation, testing::HasSubstr(R"("security":[{"token":["SERVICE"]}])"));
  EXPECT_THAT(operation, testing::HasSubstr(R"("operationId":"post_things_by_id_by_path")"));
  EXPECT_THAT(operation, testing::HasSubstr(R"("401":{"$ref":"#/components/responses/401"})"));
  EXPECT_THAT(operation, testing::HasSubstr(R"("enum":["thing-gone"])"));
  EXPECT_THAT(operation, testing::HasSubstr(R"("enum":["malformed-json","missing-field","unknown-field","wrong-type",)"
                                            R"("malformed-request","malformed-path","malformed-query"])"));
  EXPECT_THAT(text, testing::HasSubstr(R"("WWW-Authenticate":{)"));
  EXPECT_THAT(text, testing::HasSubstr(R"("Retry-After":{)"));
}

struct Page {
  std::optional<std::string> kind;
  bool full = true;
  int64_t limit = default_page;

  static void describe(json::Object<Page>& object) {
    object.optional("kind", &Page::kind).length(1, 5).about("Of this kind.");
    object.optional("full", &Page::full);
    describe_limit(object);
  }
};

TEST(DecodeQuery, reads_described_parameters_and_names_the_one_that_is_wrong) {
  http::Request request;
  const auto result_of = [&request](std::string_view query) {
    request.query = query;
    auto page = decode_query<Page>(request);
    if (page) return fmt::format("{} {} {}", page->kind.value_or("-"), page->full, page->limit);
    return std::to_string(page.error().status) + std::get<std::string>(page.error().body);
  };
  EXPECT_EQ(result_of(""), "- true 50");
  EXPECT_EQ(result_of("kind=7&full=false&limit=2&other=x"), "7 false 2");
  EXPECT_EQ(result_of("kind=a%20b"), "a b true 50");
  for (const std::string bad : {"limit=0", "limit=501", "limit=", "limit=x", "limit=1.5", "limit=1&limit=2", "full=yes",
                                "kind=", "kind=abcdef", "kind=%00"}) {
    EXPECT_THAT(result_of(bad), testing::AllOf(testing::StartsWith("422"), testing::HasSubstr("invalid-value"))) << bad;
  }
  EXPECT_THAT(result_of("limit=0"), testing::HasSubstr(R"("field":"limit")"));
}

TEST(DecodeQuery, names_a_parameter_that_is_there_twice_or_is_not_text) {
  http::Request request;
  for (const std::string query : {"kind=a&kind=b", "kind=%00", "kind=%ff"}) {
    request.query = query;
    auto page = decode_query<Page>(request);
    ASSERT_FALSE(page) << query;
    EXPECT_EQ(page.error().status, 422) << query;
    const std::string& body = std::get<std::string>(page.error().body);
    EXPECT_THAT(body, testing::HasSubstr(R"("field":"kind")")) << query;
    EXPECT_THAT(body, testing::Not(testing::HasSubstr("JSON"))) << query;
  }
}

TEST(DecodeQuery, the_document_shows_what_is_read) {
  const std::vector<Parameter> parameters = query_parameters<Page>();
  ASSERT_EQ(parameters.size(), 3U);
  EXPECT_EQ(parameters[0].description, "Of this kind.");
  EXPECT_THAT(parameters[0].schema, testing::HasSubstr(R"("type":"string")")) << "a query has no null";
  EXPECT_THAT(parameters[2].schema, testing::HasSubstr(R"("default":50,"format":"int64","minimum":1,"maximum":500)"));
}

TEST(TextForms, patterns_say_what_is_accepted) {
  for (const json::TextForm* form : {&idempotency_key_form, &letter_id_form}) {
    const std::regex pattern(std::string(form->pattern));
    for (const std::string& text :
         {std::string("a"), std::string(200, 'k'), std::string(201, 'k'), std::string(), std::string("a b"),
          std::string("é"), std::string("~!"), std::string("dead.a:0:1"), std::string("a:1"), std::string("a:-1:2"),
          std::string(":1:2"), std::string("a:1234567890:2"), std::string("a:1:1234567890123456789"),
          std::string("a:1:9000000000000000000"), std::string("a:1:12345678901234567890"), std::string("a b:1:2"),
          std::string(201, 'a') + ":1:2", std::string("a:b:1:2")}) {
      EXPECT_EQ(form->fits(text), std::regex_match(text, pattern)) << form->pattern << " " << text;
    }
  }
}

struct Body {
  std::string name;
  int64_t count = 0;
  static void describe(json::Object<Body>& object) {
    object.required("name", &Body::name).length(1, 5);
    object.optional("count", &Body::count).range(0, 10);
  }
};

TEST(DecodeBody, says_which_field_is_wrong_and_whether_form_or_value) {
  http::Request request;
  const auto status_of = [&request](std::string body) {
    request.body = std::move(body);
    auto decoded = decode_body<Body>(request);
    return decoded ? std::string("fine")
                   : std::to_string(decoded.error().status) + std::get<std::string>(decoded.error().body);
  };
  EXPECT_EQ(status_of(R"({"name":"a"})"), "fine");
  EXPECT_THAT(status_of("{"), testing::AllOf(testing::StartsWith("400"), testing::HasSubstr("malformed-json")));
  EXPECT_THAT(status_of("{}"), testing::AllOf(testing::StartsWith("400"), testing::HasSubstr("missing-field"),
                                              testing::HasSubstr("name")));
  EXPECT_THAT(status_of(R"({"name":"a","nme":1})"),
              testing::AllOf(testing::StartsWith("400"), testing::HasSubstr("unknown-field")));
  EXPECT_THAT(status_of(R"({"name":1})"), testing::AllOf(testing::StartsWith("400"), testing::HasSubstr("wrong-type")));
  EXPECT_THAT(
      status_of(R"({"name":"a","count":11})"),
      testing::AllOf(testing::StartsWith("422"), testing::HasSubstr("invalid-value"), testing::HasSubstr("count")));
}

// Remembers which thread read it.
struct Traced {
  std::string text;
  inline static std::thread::id reader;
  static void describe(json::Object<Traced>& object) { object.required("text", &Traced::text).form(form); }
  static constexpr json::TextForm form{.pattern = "^.*$",
                                       .fits =
                                           [](std::string_view) {
                                             reader = std::this_thread::get_id();
                                             return true;
                                           },
                                       .message = ""};
};

TEST(BodyReader, reads_large_bodies_on_a_thread_of_their_own) {
  BodyReader bodies;
  const auto read = [&bodies](http::Request& request) {
    asio::io_context context;
    auto done = asio::co_spawn(context, bodies.decode<Traced>(request), asio::use_future);
    context.run();
    return done.get();
  };
  http::Request request;
  request.body = R"({"text":"a"})";
  EXPECT_TRUE(read(request));
  EXPECT_EQ(Traced::reader, std::this_thread::get_id());

  const std::string large = R"({"text":")" + std::string(BodyReader::large, 'a') + R"("})";
  request.body = large;
  EXPECT_TRUE(read(request));
  EXPECT_NE(Traced::reader, std::this_thread::get_id());
  EXPECT_EQ(request.body, large);

  request.body = large + "x";
  const auto refused = read(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, json::DecodeError::Kind::malformed);
}

}  // namespace
}  // namespace sluice::api
