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

constexpr std::string_view enqueued_schema =
    R"({"type":"object","required":["jobs"],"properties":{"jobs":{"type":"array","items":{"type":"object",)"
    R"("required":["id","duplicate"],"properties":{"id":{"type":"string","format":"uuid"},)"
    R"("duplicate":{"type":"boolean"}}}}}})";
constexpr std::string_view claimed_schema =
    R"({"type":"object","required":["jobs"],"properties":{"jobs":{"type":"array","items":{"type":"object",)"
    R"("required":["id","kind","payload","attempt","lockToken","lockExpiresAt","throttleKey"],"properties":{)"
    R"("id":{"type":"string","format":"uuid"},"kind":{"type":"string"},"payload":{},)"
    R"("attempt":{"type":"integer","minimum":1},)"
    R"("lockToken":{"type":"string"},"lockExpiresAt":{"type":"string","format":"date-time"},)"
    R"("throttleKey":{"type":["string","null"]}}}}}})";
constexpr std::string_view verdicts_schema =
    R"({"type":"object","required":["results"],"properties":{"results":{"type":"array","items":{"type":"object",)"
    R"("required":["id","accepted"],"properties":{"id":{"type":"string","format":"uuid"},)"
    R"("accepted":{"type":"boolean"},"reason":{"type":"string","enum":["stale-lock","not-running","unknown"]}}}}}})";

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

http::Response enqueued_answer(const std::vector<jobs::Enqueued>& enqueued) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object().key("jobs").begin_array();
  for (const jobs::Enqueued& one : enqueued) {
    writer.begin_object().field("id", one.id).field("duplicate", one.duplicate).end_object();
  }
  writer.end_array().end_object();
  return http::Response::json(201, std::move(body));
}

http::Response claimed_answer(const std::vector<jobs::ClaimedJob>& claimed,
                              const std::vector<jobs::OutsideTry>& tries) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object().key("jobs").begin_array();
  for (size_t i = 0; i < claimed.size(); ++i) {
    const jobs::ClaimedJob& job = claimed[i];
    writer.begin_object().field("id", job.id).field("kind", job.kind).key("payload").raw(job.payload);
    writer.field("attempt", job.attempt).field("lockToken", to_text(tries[i]));
    writer.field("lockExpiresAt", job.lock_expires_at).field("throttleKey", job.throttle_key).end_object();
  }
  writer.end_array().end_object();
  return http::Response::json(200, std::move(body));
}

}  // namespace sluice::api
