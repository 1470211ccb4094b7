#include "api/job_bodies.h"

#include "http/problem.h"

namespace sluice::api {
namespace {

constexpr int64_t longest_wait_ms = 30'000;

http::Response bad_job(const http::Request& request, const json::DecodeError& error) {
  const http::Problem problem{422, "invalid-job", "A job is invalid; none was added", error.text(), error.path};
  return problem.to_response(request.request_id);
}

}  // namespace

void EnqueueBody::describe(json::Object<EnqueueBody>& object) {
  object.required("jobs", &EnqueueBody::jobs).items(1, largest_job_batch);
}

void ClaimBody::describe(json::Object<ClaimBody>& object) {
  object.required("worker", &ClaimBody::worker)
      .length(1, 200)
      .about("Name of the worker, shown to operators.")
      .example(R"("worker-1")");
  object.required("kinds", &ClaimBody::kinds)
      .items(1, 100)
      .length(1, 100)
      .about("Kinds of jobs the worker accepts.")
      .example(R"(["send-mail"])");
  object.optional("limit", &ClaimBody::limit)
      .range(1, 1'000)
      .about("Maximum number of jobs; fewer are returned if their total size is large.");
  object.optional("waitMs", &ClaimBody::wait_ms)
      .range(0, longest_wait_ms)
      .about("Time to wait for a job if none is available.");
}

void CompletionItem::describe(json::Object<CompletionItem>& object) {
  describe_lock(object);
  object.optional("result", &CompletionItem::result)
      .length(0, jobs::max_result_bytes)
      .about("Any JSON, up to 1 MiB; stored with the job.");
}

void FailureItem::describe(json::Object<FailureItem>& object) {
  describe_lock(object);
  object.required("error", &FailureItem::error).about("Description of the failure; long texts are truncated.");
  object.optional("permanent", &FailureItem::permanent).about("Do not retry; the job becomes dead.");
}

jobs::OutsideTry LockItem::outside_try() const {
  return jobs::parse_outside_try(lock_token).value_or(jobs::OutsideTry{.token = -1});  // never given out
}

std::expected<std::vector<jobs::NewJob>, http::Response> new_jobs(const http::Request& request,
                                                                  Result<EnqueueBody, json::DecodeError> body) {
  if (!body) {
    const bool in_a_job = body.error().path.starts_with("jobs[");
    return std::unexpected(in_a_job ? bad_job(request, body.error()) : undecodable(request, body.error()));
  }
  std::vector<jobs::NewJob> all;
  all.reserve(body->jobs.size());
  for (jobs::JobRequest& one : body->jobs) all.push_back(std::move(one).job());
  return all;
}

}  // namespace sluice::api
