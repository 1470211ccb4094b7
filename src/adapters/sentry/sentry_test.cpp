#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/sentry/envelope.h"
#include "adapters/sentry/scrub.h"
#include "adapters/sentry/sentry_config.h"
#include "base/json.h"

namespace sluice::sentry {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Scrub, query_strings_and_fragments_go) {
  EXPECT_EQ(scrub("GET https://a.example/x?user=1&q=[\"y\"] failed"), "GET https://a.example/x?[query] failed");
  EXPECT_EQ(scrub("/path?x=1"), "/path?[query]");
  EXPECT_EQ(scrub("https://a.example/x#access=1"), "https://a.example/x#[fragment]");
}

TEST(Scrub, questions_and_numbers_stay) {
  EXPECT_EQ(scrub("why? job #5 of C# \"what?\""), "why? job #5 of C# \"what?\"");
}

TEST(Scrub, credentials_in_urls_go) {
  EXPECT_EQ(scrub("redis://bob:hunter2@cache:6379/0 is away"), "redis://[user]@cache:6379/0 is away");
  EXPECT_EQ(scrub("https://p@ss@host/"), "https://[user]@host/");
}

TEST(Scrub, e_mail_addresses_go) {
  EXPECT_EQ(scrub("told bob.o'neil+x@mail.example.com, twice"), "told [e-mail], twice");
  EXPECT_EQ(scrub("told 'bob@example.com' and o'neil@example.com"), "told '[e-mail]' and [e-mail]");
  EXPECT_EQ(scrub("/users/alice%40example.com/photo"), "/users/[e-mail]/photo");
  EXPECT_EQ(scrub("사람@예시.한국 wrote"), "[e-mail] wrote");
  EXPECT_EQ(scrub("https://medium.example/@author/post"), "https://medium.example/@author/post");
}

TEST(Scrub, what_is_called_a_secret_goes) {
  EXPECT_EQ(scrub("password=hunter2&x=1"), "password=[secret]&x=1");
  EXPECT_EQ(scrub(R"({"refreshToken": "abc", "n": 1})"), R"({"refreshToken": "[secret]", "n": 1})");
  EXPECT_EQ(scrub("Authorization: Basic dTpw more\nHost: x"), "Authorization: [secret]\nHost: x");
  EXPECT_EQ(scrub("sent Bearer abc, refused"), "sent Bearer [secret], refused");
  EXPECT_EQ(scrub("the token expired"), "the token expired");
}

TEST(Scrub, what_looks_like_a_token_goes) {
  EXPECT_EQ(scrub("key sk_9f86d081884c7d659a2feaa0c55ad015 refused"), "key [token] refused");
  EXPECT_EQ(scrub("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x"), "[token].[token].x");
}

TEST(Scrub, ids_and_titles_stay) {
  EXPECT_EQ(scrub("job 018f4e1c-6d2a-7c3e-9f10-0242ac120002"), "job 018f4e1c-6d2a-7c3e-9f10-0242ac120002");
  EXPECT_EQ(scrub("/2024/how-to-build-a-server-in-10-days"), "/2024/how-to-build-a-server-in-10-days");
}

TEST(Dsn, says_where_envelopes_go) {
  const auto dsn = Dsn::parse("https://abc123:old@sentry.example:9000/prefix/42");
  ASSERT_TRUE(dsn);
  EXPECT_EQ(dsn->key, "abc123");
  EXPECT_EQ(dsn->envelopes.to_string(), "https://sentry.example:9000/prefix/api/42/envelope/");
}

TEST(Dsn, refuses_what_is_none) {
  for (const char* text : {"", "https://sentry.example/1", "https://@sentry.example/1", "https://a b@sentry.example/1",
                           "https://abc@sentry.example/", "ftp://abc@sentry.example/1", "abc@https://x/1"}) {
    EXPECT_FALSE(Dsn::parse(text)) << text;
  }
}

TEST(Envelope, has_three_lines_and_says_how_long_the_event_is) {
  const ErrorReport report{.severity = ErrorReport::Severity::warning,
                           .at = Time{1'700'000'000s},
                           .type = "enrich_link failed",
                           .message = "https://a.example/?q=1: no answer",
                           .tags = {{"domain", "a.example"}},
                           .details = {{"attempt 1", "told bob@example.com"}}};
  const std::string text = envelope(report, {"sluice@1", "test", "host"}, Uuid{}, Time{1'700'000'001s});
  const size_t first = text.find('\n');
  const size_t second = text.find('\n', first + 1);
  EXPECT_EQ(text.substr(0, first),
            R"({"event_id":"00000000000000000000000000000000","sent_at":"2023-11-14T22:13:21.000Z"})");
  const std::string event = text.substr(second + 1, text.size() - second - 2);
  EXPECT_EQ(text.substr(first + 1, second - first - 1),
            fmt::format(R"({{"type":"event","content_type":"application/json","length":{}}})", event.size()));
  EXPECT_EQ(
      event,
      R"({"event_id":"00000000000000000000000000000000","timestamp":"2023-11-14T22:13:20.000Z","platform":"other",)"
      R"("level":"warning","logger":"sluice","release":"sluice@1","environment":"test","server_name":"host",)"
      R"("exception":{"values":[{"type":"enrich_link failed","value":"https://a.example/?[query] no answer"}]},)"
      R"("fingerprint":["enrich_link failed"],"tags":{"domain":"a.example"},)"
      R"("extra":{"attempt 1":"told [e-mail]"}})");
}

TEST(Envelope, a_long_text_is_cut_between_letters) {
  std::string message;
  for (int i = 0; i < 10'000; ++i) message += "한";
  const std::string text = envelope({.type = "t", .message = message}, {}, Uuid{}, Time{});
  EXPECT_LT(text.size(), 9'000U);
  EXPECT_THAT(text, Not(HasSubstr("\\ufffd")));
}

TEST(Envelope, what_stands_across_the_cut_is_scrubbed) {
  const std::string token = "sk_9f86d081884c7d659a2feaa0c55ad015";
  const std::string address = "somebody.of.note@example.com";
  for (const size_t limit : {size_t{200}, size_t{8 * 1024}}) {
    for (const std::string& secret : {token, address}) {
      const std::string text = std::string(limit - 10, ' ') + secret;
      const std::string sent =
          envelope({.type = "t", .message = text, .tags = {{"a", text}}, .details = {{"b", text}}}, {}, Uuid{}, Time{});
      EXPECT_THAT(sent, Not(HasSubstr(secret.substr(0, 8)))) << limit;
    }
  }
}

}  // namespace
}  // namespace sluice::sentry
