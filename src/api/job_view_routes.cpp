#include "api/job_routes.h"
#include "api/job_view.h"
#include "api/problems.h"
#include "api/query.h"
#include "http/problem.h"
#include "jobs/byte_budget.h"

namespace sluice::api {
namespace {

using jobs::Job;
using jobs::JobId;
using jobs::Jobs;

struct JobsQuery {
  std::optional<std::string> kind;
  std::optional<jobs::JobStatus> status;
  std::optional<JobId> cursor;
  int64_t limit = default_page;

  static void describe(json::Object<JobsQuery>& object) {
    object.optional("kind", &JobsQuery::kind).length(1, 100).about("Only jobs of this kind.");
    object.optional("status", &JobsQuery::status).about("Only jobs in this state.");
    object.optional("cursor", &JobsQuery::cursor)
        .about("The `next` of the previous page. A filtered page may have few jobs, or none, and still have a `next`.");
    describe_limit(object);
  }
};

http::Response no_such_job(const http::Request& request) {
  return not_found(request, "The job does not exist, or its retention has ended.");
}

size_t bytes_of(const std::vector<Job>& jobs) {
  size_t bytes = 0;
  for (const Job& job : jobs) {
    bytes += job.payload.size() + job.result.value_or("").size() + job.last_error.value_or("").size();
  }
  return bytes;
}

// A page ends early where its jobs are large together, or where the store has looked through enough for one.
Task<jobs::JobPage> collect(Jobs& jobs, jobs::JobFilter wanted, std::optional<JobId> from, size_t most) {
  jobs::JobPage all{.jobs = {}, .next = from};
  jobs::ByteBudget budget(most);
  for (size_t some = budget.next(); some > 0; some = budget.next()) {
    jobs::JobPage page = co_await jobs.store().list(wanted, all.next, some);
    const bool whole = page.jobs.size() == some;
    budget.took(page.jobs.size(), bytes_of(page.jobs));
    std::ranges::move(page.jobs, std::back_inserter(all.jobs));
    all.next = page.next;
    if (!page.next || !whole) break;
  }
  co_return all;
}

Task<http::Response> list_jobs(Jobs& jobs, http::Request& request) {
  auto query = decode_query<JobsQuery>(request);
  if (!query) co_return std::move(query.error());
  jobs::JobFilter wanted{.kind = std::move(query->kind), .status = query->status};
  const auto most = static_cast<size_t>(query->limit);
  const jobs::JobPage page = co_await collect(jobs, std::move(wanted), query->cursor, most);
  co_return http::Response::json(200, json::encode(page));
}

Task<http::Response> show(Jobs& jobs, http::Request& request, JobId id) {
  std::optional<Job> job = co_await jobs.store().find(id);
  if (!job) co_return no_such_job(request);
  const JobWithHistory shown{*std::move(job)};
  co_return http::Response::json(200, json::encode(shown));
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
                                "The job is not dead, or another job has its unique key."};
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
    const http::Problem problem{409, "job-not-waiting", "Only a waiting job can be canceled",
                                "The job is running or has ended."};
    co_return problem.to_response(request.request_id);
  }
  http::Response response = co_await show(jobs, request, id);
  co_return response;
}

Task<http::Response> show_stats(Jobs& jobs, http::Request&) {
  const jobs::JobStats stats = co_await jobs.store().stats();
  co_return http::Response::json(200, json::encode(stats));
}

using Serve = Task<http::Response> (*)(Jobs&, http::Request&);

void add(Api& api, Jobs& jobs, Endpoint endpoint, Serve serve) {
  endpoint.role = accounts::Role::service;
  endpoint.action = [&jobs, serve](const Call& call) { return serve(jobs, call.request); };
  api.add(std::move(endpoint));
}

}  // namespace

void add_job_view_routes(Api& api, Jobs& jobs) {
  const Answer found{200, "The job.", json::output_schema<JobWithHistory>()};
  add(api, jobs,
      {.pattern = "/api/v1/jobs",
       .tag = "jobs",
       .summary = "Lists jobs, newest first.",
       .query = query_parameters<JobsQuery>(),
       .answers = {{200, "A page of jobs, without history; shorter if the jobs are large.",
                    json::output_schema<jobs::JobPage>()}}},
      list_jobs);
  add(api, jobs,
      {.pattern = "/api/v1/jobs/stats",
       .tag = "jobs",
       .summary = "Counts of jobs, the longest wait and the most frequent failures.",
       .answers = {{200, "Statistics by kind and state.", json::output_schema<jobs::JobStats>()}}},
      show_stats);
  add(api, jobs,
      {.pattern = "/api/v1/jobs/{id:uuid}",
       .tag = "jobs",
       .summary = "Returns a job with all its tries.",
       .answers = {found}},
      show_job);
  add(api, jobs,
      {.method = http::Method::post,
       .pattern = "/api/v1/jobs/{id:uuid}/retry",
       .tag = "jobs",
       .summary = "Queues a dead job again and resets its attempts.",
       .answers = {found},
       .problems = {{409, "job-not-dead", "The job is not dead, or another job has its unique key."}}},
      retry_job);
  add(api, jobs,
      {.method = http::Method::post,
       .pattern = "/api/v1/jobs/{id:uuid}/cancel",
       .tag = "jobs",
       .summary = "Cancels a waiting job.",
       .answers = {found},
       .problems = {{409, "job-not-waiting", "The job is running or has ended."}}},
      cancel_job);
}

}  // namespace sluice::api
