#include "api/job_routes.h"

#include "api/idempotency.h"
#include "api/job_answers.h"
#include "api/job_bodies.h"
#include "http/problem.h"
#include "runtime/hashed_id.h"

namespace sluice::api {
namespace {

using jobs::Jobs;
using jobs::LockedJob;
using jobs::Verdict;

constexpr size_t largest_body = size_t{64} << 20;
constexpr const char* first_id = "$response.body#/jobs/0/id";

http::Response key_reused(const http::Request& request) {
  const http::Problem problem{422, "idempotency-key-reused",
                              "This Idempotency-Key was sent with other jobs; none was added",
                              "Repeat the original request, or choose another key."};
  return problem.to_response(request.request_id);
}

// The hashed text is unambiguous: the caller's id has a fixed length.
jobs::EnqueueRequest request_of(const Call& call, const std::string& key) {
  jobs::EnqueueRequest one;
  one.id = decltype(one.id)(hashed_uuid(fmt::format("jobs {} {}", call.caller->id.text(), key)));
  one.content = decltype(one.content)(hashed_uuid(call.request.body));
  return one;
}

http::Response enqueued_answer(std::vector<jobs::Enqueued> enqueued) {
  return http::Response::json(201, json::encode(EnqueuedJobs{std::move(enqueued)}));
}

Task<http::Response> enqueue(Jobs& jobs, Call call) {
  auto key = idempotency_key(call.request);
  if (!key) co_return std::move(key.error());
  auto body = co_await call.bodies.decode<EnqueueBody>(call.request);
  auto wanted = new_jobs(call.request, std::move(body));
  if (!wanted) co_return std::move(wanted.error());
  if (!*key) {
    std::vector<jobs::Enqueued> enqueued = co_await jobs.enqueue(std::move(*wanted));
    co_return enqueued_answer(std::move(enqueued));
  }
  const jobs::EnqueueRequest request = request_of(call, **key);
  auto enqueued = co_await jobs.enqueue_for(request, std::move(*wanted));
  co_return enqueued ? enqueued_answer(*std::move(enqueued)) : key_reused(call.request);
}

template <class Item>
http::Response verdicts_answer(const std::vector<Item>& items, const std::vector<Verdict>& verdicts) {
  Verdicts answer;
  answer.results.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) answer.results.push_back({items[i].id, verdicts[i]});
  return http::Response::json(200, json::encode(answer));
}

// A worker that disconnects while it waits gets no job, and jobs that it did not receive are given back.
Task<http::Response> claim(Jobs& jobs, Call call) {
  auto wanted = decode_body<ClaimBody>(call.request);
  if (!wanted) co_return std::move(wanted.error());
  jobs::ClaimRequest asked{.worker = std::move(wanted->worker),
                           .kinds = std::move(wanted->kinds),
                           .limit = static_cast<size_t>(wanted->limit)};
  const std::chrono::milliseconds wait(wanted->wait_ms);
  http::RequestConnection* const connection = call.request.connection;
  std::function<bool()> gone = [connection] { return connection->has_hung_up(); };
  const std::vector<jobs::ClaimedJob> claimed = co_await jobs.claim(std::move(asked), wait, std::move(gone));
  std::vector<jobs::OutsideTry> tries;
  for (const jobs::ClaimedJob& job : claimed) tries.push_back(jobs.try_of(job));
  http::Response response = http::Response::json(200, json::encode(ClaimedJobs::of(claimed, tries)));
  if (!claimed.empty()) response.if_unsent = [&jobs, locks = locks_of(claimed)] { return jobs.give_back(locks); };
  co_return response;
}

Task<http::Response> complete(Jobs& jobs, Call call) {
  auto wanted = co_await call.bodies.decode<ItemsBody<CompletionItem>>(call.request);
  if (!wanted) co_return undecodable(call.request, wanted.error());
  std::vector<jobs::Completion> completions;
  std::vector<jobs::OutsideTry> tries = outside_tries(wanted->jobs);
  for (size_t i = 0; i < tries.size(); ++i) {
    CompletionItem& item = wanted->jobs[i];
    completions.push_back({item.lock(), std::nullopt, tries[i].kind, tries[i].throttle_key});
    if (item.result) completions.back().result = std::move(item.result->text);
  }
  const std::vector<Verdict> verdicts = co_await jobs.complete(std::move(completions), std::move(tries));
  co_return verdicts_answer(wanted->jobs, verdicts);
}

Task<http::Response> fail(Jobs& jobs, Call call) {
  auto wanted = co_await call.bodies.decode<ItemsBody<FailureItem>>(call.request);
  if (!wanted) co_return undecodable(call.request, wanted.error());
  std::vector<jobs::Failure> failures;
  for (FailureItem& item : wanted->jobs) failures.push_back({item.lock(), std::move(item.error), item.permanent});
  std::vector<jobs::OutsideTry> tries = outside_tries(wanted->jobs);
  const std::vector<jobs::FailVerdict> judged = co_await jobs.fail(std::move(failures), std::move(tries));
  std::vector<Verdict> verdicts;
  for (const jobs::FailVerdict& one : judged) verdicts.push_back(one.verdict);
  co_return verdicts_answer(wanted->jobs, verdicts);
}

Task<http::Response> heartbeat(Jobs& jobs, Call call) {
  auto wanted = co_await call.bodies.decode<ItemsBody<LockItem>>(call.request);
  if (!wanted) co_return undecodable(call.request, wanted.error());
  std::vector<LockedJob> locks;
  for (const LockItem& item : wanted->jobs) locks.push_back(item.lock());
  const std::vector<Verdict> verdicts = co_await jobs.store().renew(std::move(locks));
  co_return verdicts_answer(wanted->jobs, verdicts);
}

using Serve = Task<http::Response> (*)(Jobs&, Call);

struct Post {
  std::string pattern;
  std::string summary;
  std::string body_schema;
  std::vector<Answer> answers;
  Serve serve;
  std::vector<Parameter> headers{};
  std::vector<ProblemAnswer> problems{};
  http::RouteOptions options{.max_body = largest_body};
};

void add_post(Api& api, Jobs& jobs, Post post) {
  api.add({.method = http::Method::post,
           .pattern = std::move(post.pattern),
           .tag = "jobs",
           .summary = std::move(post.summary),
           .role = accounts::Role::service,
           .headers = std::move(post.headers),
           .body_schema = std::move(post.body_schema),
           .answers = std::move(post.answers),
           .problems = std::move(post.problems),
           .options = std::move(post.options),
           .action = [&jobs, serve = post.serve](const Call& call) { return serve(jobs, call); }});
}

void add_verdicts(Api& api, Jobs& jobs, const char* name, std::string summary, std::string schema, Serve serve) {
  add_post(api, jobs,
           {.pattern = fmt::format("/api/v1/jobs/{}", name),
            .summary = std::move(summary),
            .body_schema = std::move(schema),
            .answers = {{200, "Each item is accepted or refused individually.", json::output_schema<Verdicts>()}},
            .serve = serve});
}

}  // namespace

void add_job_routes(Api& api, Jobs& jobs) {
  add_post(
      api, jobs,
      {.pattern = "/api/v1/jobs",
       .summary = "Adds jobs, all or none. With an Idempotency-Key they are added once; a repeated request gets the "
                  "first response.",
       .body_schema = json::schema<EnqueueBody>(),
       .answers = {{.status = 201,
                    .description = "The jobs in the order of the request; a duplicate has the id of the existing job.",
                    .schema = json::output_schema<EnqueuedJobs>(),
                    .links = {{"job", http::Method::get, "/api/v1/jobs/{id:uuid}", "id", first_id},
                              {"cancel", http::Method::post, "/api/v1/jobs/{id:uuid}/cancel", "id", first_id}}}},
       .serve = enqueue,
       .headers = {idempotency_key_parameter()},
       .problems = {{422, "invalid-job", "A job is invalid; `field` names it, and none was added."},
                    {422, "idempotency-key-reused", "This Idempotency-Key was sent with other jobs."}}});
  add_post(api, jobs,
           {.pattern = "/api/v1/jobs/claim",
            .summary = "Claims jobs, each with a lock that expires unless it is renewed.",
            .body_schema = json::schema<ClaimBody>(),
            .answers = {{200, "The claimed jobs; empty if none became available in time.",
                         json::output_schema<ClaimedJobs>()}},
            .serve = claim,
            .options = {.max_body = 64 << 10, .timeout = 45s}});
  add_verdicts(api, jobs, "complete", "Reports completed jobs.", json::schema<ItemsBody<CompletionItem>>(), complete);
  add_verdicts(api, jobs, "fail", "Reports failed jobs; each is retried later or becomes dead.",
               json::schema<ItemsBody<FailureItem>>(), fail);
  add_verdicts(api, jobs, "heartbeat", "Renews the locks of running jobs.", json::schema<ItemsBody<LockItem>>(),
               heartbeat);
  add_job_view_routes(api, jobs);
}

}  // namespace sluice::api
