#include "api/job_routes.h"
#include "api/paging.h"
#include "api/problems.h"
#include "base/json.h"
#include "http/problem.h"
#include "jobs/byte_budget.h"

namespace sluice::api {
namespace {

using jobs::Job;
using jobs::JobId;
using jobs::Jobs;

constexpr std::string_view job_schema =
    R"({"type":"object","required":["id","kind","status","payload","attempts","maxAttempts","runAfter","createdAt"],)"
    R"("properties":{"id":{"type":"string","format":"uuid"},"kind":{"type":"string"},)"
    R"("uniqueKey":{"type":["string","null"]},"payload":{},"priority":{"type":"integer"},)"
    R"("status":{"enum":["queued","running","succeeded","failed","dead","canceled"]},"attempts":{"type":"integer"},)"
    R"("maxAttempts":{"type":"integer"},"runAfter":{"type":"string","format":"date-time"},)"
    R"("lockedAt":{"type":["string","null"]},"lockedBy":{"type":["string","null"]},)"
    R"("lockToken":{"type":["string","null"]},)"
    R"("throttleKey":{"type":["string","null"]},"lastError":{"type":["string","null"]},"result":{},)"
    R"("createdAt":{"type":"string","format":"date-time"},"updatedAt":{"type":"string","format":"date-time"},)"
    R"("finishedAt":{"type":["string","null"]},"history":{"type":"array","items":{"type":"object"}}}})";
constexpr std::string_view stats_schema =
    R"({"type":"object","required":["kinds","topFailing"],"properties":{"kinds":{"type":"array","items":{)"
    R"("type":"object","properties":{"kind":{"type":"string"},"counts":{"type":"object",)"
    R"("additionalProperties":{"type":"integer"}},"oldestWaiting":{"type":["string","null"]},)"
    R"("finishedPerSecond":{"type":"number"},"rates":{"type":"object","properties":{"added":{"type":"number"},)"
    R"("succeeded":{"type":"number"},"failed":{"type":"number"},"dead":{"type":"number"},)"
    R"("canceled":{"type":"number"}}}}}},"topFailing":{"type":"array","items":{"type":"object",)"
    R"("properties":{"kind":{"type":"string"},"throttleKey":{"type":"string"},"failures":{"type":"integer"}}}}}})";

// As the claim gave it.
std::optional<std::string> lock_token(const Job& job) {
  if (job.lock_token == 0) return std::nullopt;
  return std::to_string(job.lock_token);
}

void write_job(json::Writer& writer, const Job& job) {
  writer.field("id", job.id).field("kind", job.kind).field("uniqueKey", job.unique_key);
  writer.key("payload").raw(job.payload);
  writer.field("priority", job.priority).field("status", job.status).field("attempts", job.attempts);
  writer.field("maxAttempts", job.max_attempts).field("runAfter", job.run_after).field("lockedAt", job.locked_at);
  writer.field("lockedBy", job.locked_by).field("lockToken", lock_token(job));
  writer.field("throttleKey", job.throttle_key).field("lastError", job.last_error);
  writer.key("result").raw(job.result.value_or("null"));
  writer.field("createdAt", job.created_at).field("updatedAt", job.updated_at).field("finishedAt", job.finished_at);
}

void write_history(json::Writer& writer, const Job& job) {
  writer.key("history").begin_array();
  for (const jobs::Attempt& attempt : job.history) {
    writer.begin_object().field("attempt", attempt.number).field("startedAt", attempt.started_at);
    writer.field("endedAt", attempt.ended_at).field("worker", attempt.worker);
    writer.key("outcome");
    attempt.outcome.empty() ? writer.null() : writer.string(attempt.outcome);
    writer.field("error", attempt.error).end_object();
  }
  writer.end_array();
}

http::Response no_such_job(const http::Request& request) {
  return not_found(request, "There is no such job, or it was finished long ago.");
}

size_t bytes_of(const std::vector<Job>& jobs) {
  size_t bytes = 0;
  for (const Job& job : jobs) {
    bytes += job.payload.size() + job.result.value_or("").size() + job.last_error.value_or("").size();
  }
  return bytes;
}

// A page ends early where its jobs are large together.
Task<jobs::JobPage> collect(Jobs& jobs, jobs::JobFilter wanted, std::optional<JobId> from, size_t most) {
  jobs::JobPage all{.jobs = {}, .next = from};
  jobs::ByteBudget budget(most);
  for (size_t some = budget.next(); some > 0; some = budget.next()) {
    jobs::JobPage page = co_await jobs.store().list(wanted, all.next, some);
    budget.took(page.jobs.size(), bytes_of(page.jobs));
    std::ranges::move(page.jobs, std::back_inserter(all.jobs));
    all.next = page.next;
    if (!page.next) break;
  }
  co_return all;
}

Task<http::Response> list_jobs(Jobs& jobs, http::Request& request) {
  jobs::JobFilter wanted{.kind = filter(request, "kind")};
  if (const auto status = filter(request, "status")) {
    wanted.status = parse_enum<jobs::JobStatus>(*status);
    if (!wanted.status) co_return bad_query(request, "status", "must be one of " + list_names<jobs::JobStatus>());
  }
  const auto most = page_size(request);
  if (!most) co_return bad_page_size(request);
  std::optional<JobId> from;
  if (const auto cursor = filter(request, "cursor")) {
    from = JobId::parse(*cursor);
    if (!from) co_return bad_cursor(request);
  }
  const jobs::JobPage page = co_await collect(jobs, std::move(wanted), from, *most);
  std::string body;
  json::Writer writer(body);
  writer.begin_object().key("jobs").begin_array();
  for (const Job& job : page.jobs) {
    writer.begin_object();
    write_job(writer, job);
    writer.end_object();
  }
  writer.end_array();
  if (page.next) writer.field("next", *page.next);
  writer.end_object();
  co_return http::Response::json(200, std::move(body));
}

Task<http::Response> show(Jobs& jobs, http::Request& request, JobId id) {
  const std::optional<Job> job = co_await jobs.store().find(id);
  if (!job) co_return no_such_job(request);
  std::string body;
  json::Writer writer(body);
  writer.begin_object();
  write_job(writer, *job);
  write_history(writer, *job);
  writer.end_object();
  co_return http::Response::json(200, std::move(body));
}

JobId id_of(const http::Request& request) {
  return JobId::parse(request.param("id")).value();  // the route takes nothing else
}

Task<http::Response> show_job(Jobs& jobs, http::Request& request) {
  return show(jobs, request, id_of(request));
}

Task<http::Response> retry_job(Jobs& jobs, http::Request& request) {
  const JobId id = id_of(request);
  const std::optional<bool> done = co_await jobs.retry(id);
  if (!done) co_return no_such_job(request);
  if (!*done) {
    const http::Problem problem{409, "job-not-dead", "Only a dead job can be retried",
                                "It is not dead, or another job has its unique key by now."};
    co_return problem.to_response(request.request_id);
  }
  http::Response response = co_await show(jobs, request, id);
  co_return response;
}

Task<http::Response> cancel_job(Jobs& jobs, http::Request& request) {
  const JobId id = id_of(request);
  const std::optional<bool> done = co_await jobs.cancel(id);
  if (!done) co_return no_such_job(request);
  if (!*done) {
    const http::Problem problem{409, "job-not-waiting", "Only a job that waits can be canceled",
                                "It runs, or it has ended."};
    co_return problem.to_response(request.request_id);
  }
  http::Response response = co_await show(jobs, request, id);
  co_return response;
}

void write_rates(json::Writer& writer, const jobs::JobRates& rates) {
  writer.begin_object().field("added", rates.added).field("succeeded", rates.succeeded);
  writer.field("failed", rates.failed).field("dead", rates.dead).field("canceled", rates.canceled).end_object();
}

Task<http::Response> show_stats(Jobs& jobs, http::Request&) {
  const jobs::JobStats stats = co_await jobs.store().stats();
  std::string body;
  json::Writer writer(body);
  writer.begin_object().key("kinds").begin_array();
  for (const jobs::KindStats& kind : stats.kinds) {
    writer.begin_object().field("kind", kind.kind).key("counts").begin_object();
    for (const auto& [status, count] : kind.counts) writer.field(enum_name(status), count);
    writer.end_object().field("oldestWaiting", kind.oldest_waiting);
    writer.field("finishedPerSecond", kind.rates.finished()).key("rates");
    write_rates(writer, kind.rates);
    writer.end_object();
  }
  writer.end_array().key("topFailing").begin_array();
  for (const jobs::FailingKey& key : stats.top_failing) {
    writer.begin_object().field("kind", key.kind).field("throttleKey", key.throttle_key);
    writer.field("failures", key.failures).end_object();
  }
  writer.end_array().end_object();
  co_return http::Response::json(200, std::move(body));
}

using Serve = Task<http::Response> (*)(Jobs&, http::Request&);

void add(Api& api, Jobs& jobs, Endpoint endpoint, Serve serve) {
  endpoint.role = accounts::Role::service;
  endpoint.action = [&jobs, serve](const Call& call) { return serve(jobs, call.request); };
  api.add(std::move(endpoint));
}

}  // namespace

void add_job_view_routes(Api& api, Jobs& jobs) {
  const std::string page =
      fmt::format(R"({{"type":"object","required":["jobs"],"properties":{{"jobs":{{"type":"array","items":{}}},)"
                  R"("next":{{"type":"string"}}}}}})",
                  job_schema);
  const Answer found{200, "The job.", std::string(job_schema)};
  add(api, jobs,
      {.pattern = "/api/v1/jobs",
       .tag = "jobs",
       .summary = "Jobs, the newest first.",
       .query = {{"kind", "Of this kind."},
                 {"status", "In this state."},
                 {"cursor", "`next` of the page before."},
                 {"limit", "Jobs on a page.", std::string(page_size_schema)}},
       .answers = {{200, "A page of them, without history; shorter where they are large together.", page}}},
      list_jobs);
  add(api, jobs,
      {.pattern = "/api/v1/jobs/stats",
       .tag = "jobs",
       .summary = "How many jobs there are, what waits longest, and what fails most.",
       .answers = {{200, "By kind and state.", std::string(stats_schema)}}},
      show_stats);
  add(api, jobs,
      {.pattern = "/api/v1/jobs/{id:uuid}",
       .tag = "jobs",
       .summary = "One job with all its tries.",
       .answers = {found, {404, "There is none."}}},
      show_job);
  add(api, jobs,
      {.method = http::Method::post,
       .pattern = "/api/v1/jobs/{id:uuid}/retry",
       .tag = "jobs",
       .summary = "Queues a dead job again, with all its attempts.",
       .answers = {found, {404, "There is none."}, {409, "It is not dead."}}},
      retry_job);
  add(api, jobs,
      {.method = http::Method::post,
       .pattern = "/api/v1/jobs/{id:uuid}/cancel",
       .tag = "jobs",
       .summary = "Cancels a job that waits.",
       .answers = {found, {404, "There is none."}, {409, "It runs, or has ended."}}},
      cancel_job);
}

}  // namespace sluice::api
