// Views of the queue over HTTP, and its limits.
#include "base/time.h"
#include "runtime/system_clock.h"
#include "tests/scenario/jobs_over_http.h"

namespace sluice::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

constexpr const char* a_time = R"("20[0-9-]+T[0-9:.]+Z")";

class JobViews : public JobsOverHttp {
 protected:
  std::string stats() const { return ask("GET", "/api/v1/jobs/stats").body; }
  static std::string text_of(size_t size) { return "\"" + std::string(size - 2, 'x') + "\""; }
  RawResponse add_payload(const std::string& payload) const {
    return ask("POST", "/api/v1/jobs", fmt::format(R"({{"jobs":[{{"kind":"mail","payload":{}}}]}})", payload));
  }
};

TEST_P(JobViews, a_job_is_shown_with_all_its_columns_in_every_state) {
  const std::string id =
      enqueue(R"({"kind":"mail","payload":{"a":1},"uniqueKey":"u","priority":3,"throttleKey":"a.example"})")
          .jobs.at(0)
          .id;
  const std::string queued = show(id);
  EXPECT_THAT(queued, HasSubstr(R"("kind":"mail","uniqueKey":"u","payload":{"a":1},"priority":3,"status":"queued")"));
  EXPECT_THAT(queued, HasSubstr(R"("lockedAt":null,"lockedBy":null,"lockToken":null,"throttleKey":"a.example")"));
  EXPECT_THAT(queued, HasSubstr(R"("lastError":null,"result":null,"createdAt":)"));
  for (const char* name : {"runAfter", "createdAt", "updatedAt"}) {
    EXPECT_THAT(queued, ContainsRegex(fmt::format(R"("{}":{})", name, a_time)));
  }
  EXPECT_THAT(queued, HasSubstr(R"("finishedAt":null,"history":[])"));

  const JobAnswer claimed = claim("mail").at(0);
  const std::string number = claimed.lock_token.value().substr(0, claimed.lock_token.value().find('.'));
  EXPECT_THAT(show(id), ContainsRegex(fmt::format(R"("lockedAt":{},"lockedBy":"w","lockToken":"{}")", a_time, number)));
  tell("complete", claimed, R"(,"result":[1])");
  EXPECT_THAT(show(id), HasSubstr(R"("result":[1])"));
  EXPECT_THAT(show(id), ContainsRegex(fmt::format(R"("finishedAt":{},"history":\[\{{"attempt":1)", a_time)));
  EXPECT_THAT(ask("GET", "/api/v1/jobs?kind=mail").body, HasSubstr(fmt::format(R"("lockToken":"{}")", number)));
}

TEST_P(JobViews, a_claim_says_when_its_lock_ends) {
  add("short");
  const RawResponse claimed = ask("POST", "/api/v1/jobs/claim", R"({"worker":"w","kinds":["short"]})");
  const std::string name = R"("lockExpiresAt":")";
  const size_t at = claimed.body.find(name);
  ASSERT_NE(at, std::string::npos) << claimed.body;
  const auto ends = parse_time(claimed.body.substr(at + name.size(), 24));
  ASSERT_TRUE(ends) << claimed.body;
  const Duration left = *ends - SystemClock().wall();
  EXPECT_LT(left, 1100ms);
  EXPECT_GT(left, -20s);
  EXPECT_THAT(claimed.body, ContainsRegex(R"("attempt":1,"lockToken":"[0-9]+\.[0-9]+\.[A-Za-z0-9_-]+",)"));
}

TEST_P(JobViews, the_number_that_is_shown_is_a_token_too) {
  const std::string id = add("mail");
  claim("mail");
  const std::string shown = show(id);
  const std::string name = R"("lockToken":")";
  const size_t at = shown.find(name) + name.size();
  const JobAnswer by_hand{.id = id, .lock_token = shown.substr(at, shown.find('"', at) - at)};
  EXPECT_THAT(tell("complete", by_hand), HasSubstr(R"("accepted":true)"));
}

TEST_P(JobViews, stats_have_rates_and_who_fails_most) {
  for (int i = 0; i < 6; ++i) enqueue(R"({"kind":"mail","payload":1,"throttleKey":"bad.example"})");
  tell("complete", claim("mail", 0, 1).at(0));
  tell("fail", claim("mail", 0, 1).at(0), R"(,"error":"x")");
  tell("fail", claim("mail", 0, 1).at(0), R"(,"error":"x","permanent":true)");
  const std::string shown = stats();
  EXPECT_THAT(shown, ContainsRegex(R"("oldestWaiting":"20[^"]+","finishedPerSecond":0.03)"));
  EXPECT_THAT(shown, HasSubstr(R"("rates":{"added":0.1,"succeeded":0.01)"));
  EXPECT_THAT(shown, ContainsRegex(R"("failed":0.01[0-9]*,"dead":0.01[0-9]*,"canceled":0)"));
  EXPECT_THAT(shown, HasSubstr(R"("topFailing":[{"kind":"mail","throttleKey":"bad.example","failures":2}])"));
  EXPECT_THAT(sluice({"jobs", "stats"}).output, HasSubstr("added/s"));
}

TEST_P(JobViews, a_job_waits_for_its_time) {
  const auto add_for = [this](Time when) {
    return enqueue(fmt::format(R"({{"kind":"mail","payload":1,"runAfter":"{}"}})", format_time(when))).jobs.at(0).id;
  };
  const std::string later = add_for(SystemClock().wall() + 1h);
  EXPECT_TRUE(claim("mail").empty());
  const Time when = SystemClock().wall() + 1500ms;
  const std::string soon = add_for(when);
  const std::vector<JobAnswer> claimed = claim("mail", 30'000);
  EXPECT_GE(SystemClock().wall(), when);
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ(claimed[0].id, soon);
  EXPECT_EQ(status(later), "queued");
}

TEST_P(JobViews, too_much_of_anything_is_refused_by_name) {
  std::string many;
  for (int i = 0; i < 10'001; ++i) many += std::string(i ? "," : "") + R"({"kind":"mail","payload":1})";
  const RawResponse refused = ask("POST", "/api/v1/jobs", R"({"jobs":[)" + many + "]}");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body, HasSubstr(R"("field":"jobs")"));

  constexpr size_t most = size_t{1} << 20;
  EXPECT_EQ(add_payload(text_of(most)).status, 201);
  const RawResponse large = add_payload(text_of(most + 1));
  EXPECT_EQ(large.status, 422);
  EXPECT_THAT(large.body, HasSubstr(R"("code":"invalid-job")"));
  EXPECT_THAT(large.body, HasSubstr(R"("field":"jobs[0].payload")"));

  const JobAnswer job = claim("mail").at(0);
  EXPECT_THAT(tell("complete", job, R"(,"result":)" + text_of(most + 1)), HasSubstr(R"("field":"jobs[0].result")"));
  EXPECT_THAT(tell("fail", job, R"(,"error":)" + text_of(50'000)), HasSubstr(R"("accepted":true)"));
  EXPECT_THAT(show(job.id), ContainsRegex(R"("lastError":"x+\.\.\.")"));
}

TEST_P(JobViews, a_body_in_pieces_has_its_limit_too) {
  RawClient client(server_->port());
  client.send(
      fmt::format("POST /api/v1/jobs/claim HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n"
                  "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
                  key_));
  const std::string piece(16 << 10, ' ');
  for (int i = 0; i < 5; ++i) client.try_send(fmt::format("{:x}\r\n{}\r\n", piece.size(), piece));
  EXPECT_EQ(client.read_response().status, 413);
}

TEST_P(JobViews, large_jobs_come_in_short_pages_and_small_claims) {
  const std::string payload = text_of(size_t{1} << 20);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(add_payload(payload).status, 201);
  const JobsAnswer page = read(ask("GET", "/api/v1/jobs?kind=mail&limit=500"));
  EXPECT_EQ(page.jobs.size(), 16U);
  ASSERT_TRUE(page.next);
  EXPECT_EQ(read(ask("GET", "/api/v1/jobs?kind=mail&limit=500&cursor=" + *page.next)).jobs.size(), 4U);
  EXPECT_EQ(claim("mail", 0, 1'000).size(), 16U);
  EXPECT_EQ(claim("mail", 0, 1'000).size(), 4U);
}

TEST_P(JobViews, operators_see_as_many_as_they_ask_for) {
  std::string many;
  for (int i = 0; i < 230; ++i) many += std::string(i ? "," : "") + R"({"kind":"mail","payload":1})";
  enqueue(many);
  const auto lines = [this](const char* count) {
    const std::string output = sluice({"jobs", "list", "--count", count}).output;
    return std::pair(std::ranges::count(output, '\n') - 1, output.contains("there are more"));
  };
  EXPECT_EQ(lines("220"), std::pair(221L, true));  // one line says so
  EXPECT_EQ(lines("230"), std::pair(230L, false));
  EXPECT_EQ(lines("1000"), std::pair(230L, false));
}

INSTANTIATE_TEST_SUITE_P(, JobViews, testing::Values("sqlite", "postgres"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sluice::test
