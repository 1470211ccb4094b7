#include <gtest/gtest.h>

#include "api/dead_letter_view.h"
#include "api/document_view.h"
#include "api/import_view.h"
#include "api/job_answers.h"
#include "api/job_view.h"
#include "api/link_view.h"
#include "http/problem.h"

namespace sluice::api {
namespace {

const Uuid some_id = Uuid::parse("018f4e1c-6d2a-7c3e-9f10-0242ac120002").value();
const Time some_time = parse_time("2026-05-01T11:00:00Z").value();

TEST(JobAnswers, a_job_has_its_history_only_where_it_is_alone) {
  jobs::Job job{.id = jobs::JobId(some_id), .kind = "mail", .payload = R"({"to":1})", .lock_token = 7};
  job.history.push_back({.number = 1, .started_at = some_time, .worker = "w"});
  const std::string_view without =
      R"({"id":"018f4e1c-6d2a-7c3e-9f10-0242ac120002","kind":"mail","uniqueKey":null,"payload":{"to":1},"priority":0,)"
      R"("status":"queued","attempts":0,"maxAttempts":1,"runAfter":"1970-01-01T00:00:00.000Z","lockedAt":null,)"
      R"("lockedBy":null,"lockToken":"7","throttleKey":null,"lastError":null,"result":null,)"
      R"("createdAt":"1970-01-01T00:00:00.000Z","updatedAt":"1970-01-01T00:00:00.000Z","finishedAt":null)";
  EXPECT_EQ(json::encode(jobs::JobPage{.jobs = {job}}), fmt::format(R"({{"jobs":[{}}}]}})", without));
  EXPECT_EQ(json::encode(JobWithHistory{job}),
            fmt::format(R"({}{})", without,
                        R"(,"history":[{"attempt":1,"startedAt":"2026-05-01T11:00:00.000Z","endedAt":null,)"
                        R"("worker":"w","outcome":null,"error":null}]})"));
}

TEST(JobAnswers, a_page_names_the_next_one_if_there_is_one) {
  EXPECT_EQ(json::encode(jobs::JobPage{.jobs = {}, .next = jobs::JobId(some_id)}),
            R"({"jobs":[],"next":"018f4e1c-6d2a-7c3e-9f10-0242ac120002"})");
}

TEST(JobAnswers, an_item_says_why_it_was_refused_and_nothing_else_does) {
  const jobs::JobId id(some_id);
  EXPECT_EQ(json::encode(Verdicts{{{id, jobs::Verdict::accepted}, {id, jobs::Verdict::stale_lock}}}),
            R"({"results":[{"id":"018f4e1c-6d2a-7c3e-9f10-0242ac120002","accepted":true},)"
            R"({"id":"018f4e1c-6d2a-7c3e-9f10-0242ac120002","accepted":false,"reason":"stale-lock"}]})");
  EXPECT_TRUE(
      json::output_schema<Verdicts>().contains(R"("reason":{"type":"string","enum":["stale-lock","not-running",)"
                                               R"("unknown"]}},"required":["id","accepted"])"));
}

messaging::DeadLetter letter_about(std::string payload) {
  return {
      .position = {"dead.orders", 1, 17},
      .group = "billing",
      .origin = {"orders", 2, 5},
      .failure = {.reason = "API_5XX", .error = "502", .tries = 3, .at = some_time, .worker = "w"},
      .original = {.topic = "orders", .key = "k", .payload = std::move(payload), .headers = {{"b", "1"}, {"a", "2"}}},
      .complete = true};
}

constexpr std::string_view letter_json =
    R"({"id":"dead.orders:1:17","topic":"orders","partition":2,"offset":5,"key":"k","group":"billing",)"
    R"("reason":"API_5XX","error":"502","tries":3,"failedAt":"2026-05-01T11:00:00.000Z","worker":"w","complete":true)";

TEST(DeadLetterAnswers, an_original_is_shown_as_it_is_or_in_base64url) {
  EXPECT_EQ(json::encode(messaging::LetterPage{.letters = {letter_about("1")}, .next = {}}),
            fmt::format(R"({{"letters":[{}}}]}})", letter_json));
  EXPECT_EQ(json::encode(LetterWithOriginal::of(letter_about(R"({"x": null})"))),
            fmt::format(R"({},"headers":{{"b":"1","a":"2"}},"payload":{{"x": null}}}})", letter_json));
  EXPECT_EQ(json::encode(LetterWithOriginal::of(letter_about("no"))),
            fmt::format(R"({},"headers":{{"b":"1","a":"2"}},"payloadBytes":"bm8"}})", letter_json));
}

TEST(DeadLetterAnswers, an_original_that_was_never_in_the_log_has_no_place_there) {
  messaging::DeadLetter letter = letter_about("");
  letter.origin = {};
  letter.complete = false;
  const std::string text = json::encode(LetterWithOriginal::of(std::move(letter)));
  EXPECT_TRUE(text.contains(R"("topic":"orders","key":"k")")) << text;
  EXPECT_TRUE(text.ends_with(R"("complete":false,"headers":{"b":"1","a":"2"}})")) << text;
}

TEST(DocumentAnswers, a_document_says_what_differs_between_its_readers) {
  const documents::Document document{
      .body = "<a/>", .content_type = "text/xml", .etag = "", .case_type = {}, .fetched_at = some_time};
  documents::Served served{.document = std::make_shared<const documents::Document>(document)};
  const std::string_view start = R"({"origin":"o","path":"a.xml","content":"<a/>","caseType":null,"source":"memory",)"
                                 R"("cachedAt":"2026-05-01T11:00:00.000Z")";
  EXPECT_EQ(json::encode(DocumentView{"o", "a.xml", &served}), fmt::format("{}}}", start));
  served.degraded = documents::Reason::hold_down;
  EXPECT_EQ(json::encode(DocumentView{"o", "a.xml", &served, true}),
            fmt::format(R"({},"fromCache":true,"degraded":true,"reason":"hold-down"}})", start));
}

TEST(LinkAnswers, a_link_has_a_page_once_it_was_fetched) {
  links::LinkPage page;
  page.links.push_back({.id = links::InstanceId(some_id), .folder = "", .title = "A", .url = "https://a.example/"});
  EXPECT_TRUE(json::encode(page).ends_with(R"("page":null,"fetchedAt":null,"failure":null}]})")) << json::encode(page);
  page.links[0].fetched_at = some_time;
  page.links[0].facts.title = "a";
  EXPECT_TRUE(json::encode(page).contains(
      R"("page":{"title":"a","description":"","siteName":"","imageUrl":"","iconUrl":""},"fetchedAt":"2026-)"));
}

TEST(ImportAnswers, an_import_keeps_its_owner_and_file_to_itself) {
  const links::Import import{.id = links::ImportId(some_id), .owner = {}, .total_items = 2};
  EXPECT_EQ(json::encode(import),
            R"({"id":"018f4e1c-6d2a-7c3e-9f10-0242ac120002","status":"queued","totalItems":2,"processedItems":0,)"
            R"("failedItems":0,"createdAt":"1970-01-01T00:00:00.000Z","startedAt":null,"finishedAt":null,)"
            R"("lastError":null})");
}

TEST(ProblemAnswers, a_problem_leaves_out_what_it_does_not_say) {
  const http::Problem problem{404, "not-found", ""};
  EXPECT_EQ(json::encode(http::ProblemBody{&problem, "r"}),
            R"({"type":"urn:sluice:problem:not-found","title":"Not Found","status":404,"code":"not-found",)"
            R"("requestId":"r"})");
}

}  // namespace
}  // namespace sluice::api
