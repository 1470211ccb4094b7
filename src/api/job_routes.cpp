#include "api/job_routes.h"

#include <charconv>

#include "api/problems.h"
#include "http/problem.h"
#include "jobs/job_request.h"

namespace sluice::api {
namespace {

using jobs::Jobs;
using jobs::LockedJob;
using jobs::Verdict;

constexpr size_t largest_batch = 10'000;
constexpr int64_t longest_wait_ms = 30'000;
constexpr size_t largest_body = size_t{64} << 20;

struct EnqueueBody {
  std::vector<jobs::JobRequest> jobs;

  static void describe(json::Object<EnqueueBody>& object) {
    object.required("jobs", &EnqueueBody::jobs).items(1, largest_batch);
  }
};

struct ClaimBody {
  std::string worker;
  std::vector<std::string> kinds;
  int64_t limit = 10;
  int64_t wait_ms = 0;

  static void describe(json::Object<ClaimBody>& object) {
    object.required("worker", &ClaimBody::worker).length(1, 200).about("Who asks, for people.");
    object.required("kinds", &ClaimBody::kinds).items(1, 100).length(1, 100).about("What it can work on.");
    object.optional("limit", &ClaimBody::limit).range(1, 1'000).about("Jobs at most.");
    object.optional("waitMs", &ClaimBody::wait_ms)
        .range(0, longest_wait_ms)
        .about("For the first job, if none is there.");
  }
};

// The token goes back as it came; what it looks like is nobody's business.
jobs::LockToken token_of(const json::Raw& raw) {
  std::string_view text = raw.text;
  if (text.size() >= 2 && text.starts_with('"')) text = text.substr(1, text.size() - 2);
  jobs::LockToken token = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), token);
  return error == std::errc{} && end == text.data() + text.size() ? token : -1;  // never given out
}

struct LockItem {
  jobs::JobId id;
  json::Raw lock_token;

  template <class Item>
  static void describe_lock(json::Object<Item>& object) {
    object.required("id", static_cast<jobs::JobId Item::*>(&Item::id));
    object.required("lockToken", static_cast<json::Raw Item::*>(&Item::lock_token)).about("As the claim gave it.");
  }
  static void describe(json::Object<LockItem>& object) { describe_lock(object); }
  LockedJob lock() const { return {id, token_of(lock_token)}; }
};

struct CompletionItem : LockItem {
  std::optional<json::Raw> result;

  static void describe(json::Object<CompletionItem>& object) {
    describe_lock(object);
    object.optional("result", &CompletionItem::result).about("Any JSON; kept with the job.");
  }
};

struct FailureItem : LockItem {
  std::string error;
  bool permanent = false;

  static void describe(json::Object<FailureItem>& object) {
    describe_lock(object);
    object.required("error", &FailureItem::error).length(0, 10'000);
    object.optional("permanent", &FailureItem::permanent).about("No further try can help: dead at once.");
  }
};

template <class Item>
struct ItemsBody {
  std::vector<Item> jobs;

  static void describe(json::Object<ItemsBody>& object) {
    object.required("jobs", &ItemsBody::jobs).items(1, largest_batch);
  }
};

constexpr std::string_view enqueued_schema =
    R"({"type":"object","required":["jobs"],"properties":{"jobs":{"type":"array","items":{"type":"object",)"
    R"("required":["id","duplicate"],"properties":{"id":{"type":"string","format":"uuid"},)"
    R"("duplicate":{"type":"boolean"}}}}}})";
constexpr std::string_view claimed_schema =
    R"({"type":"object","required":["jobs"],"properties":{"jobs":{"type":"array","items":{"type":"object",)"
    R"("required":["id","kind","payload","attempt","lockToken","lockExpiresAt","throttleKey"],"properties":{)"
    R"("id":{"type":"string","format":"uuid"},"kind":{"type":"string"},"payload":{},"attempt":{"type":"integer"},)"
    R"("lockToken":{"type":"string"},"lockExpiresAt":{"type":"string","format":"date-time"},)"
    R"("throttleKey":{"type":["string","null"]}}}}}})";
constexpr std::string_view results_schema =
    R"({"type":"object","required":["results"],"properties":{"results":{"type":"array","items":{"type":"object",)"
    R"("required":["id","accepted"],"properties":{"id":{"type":"string","format":"uuid"},)"
    R"("accepted":{"type":"boolean"},"reason":{"enum":["stale-lock","not-running","unknown"]}}}}}})";

// All or nothing: whatever is wrong with one of the jobs, its index is named.
http::Response bad_job(const http::Request& request, const json::DecodeError& error) {
  const http::Problem problem{422, "invalid-job", "One of the jobs cannot be; none was added", error.text(),
                              error.path};
  return problem.to_response(request.request_id);
}

std::expected<std::vector<jobs::NewJob>, http::Response> new_jobs(const http::Request& request) {
  auto body = json::decode<EnqueueBody>(request.body);
  if (!body) {
    const bool in_a_job = body.error().path.starts_with("jobs[");
    return std::unexpected(in_a_job ? bad_job(request, body.error()) : undecodable(request, body.error()));
  }
  std::vector<jobs::NewJob> all;
  for (jobs::JobRequest& one : body->jobs) {
    if (one.payload.text.size() > jobs::max_payload_bytes) {
      const std::string path = fmt::format("jobs[{}].payload", all.size());
      return std::unexpected(bad_job(request, {json::DecodeError::Kind::invalid, path, "must not exceed 1 MiB"}));
    }
    all.push_back(std::move(one).job());
  }
  return all;
}

Task<http::Response> enqueue(Jobs& jobs, http::Request& request) {
  auto wanted = new_jobs(request);
  if (!wanted) co_return std::move(wanted.error());
  const std::vector<jobs::Enqueued> enqueued = co_await jobs.enqueue(std::move(*wanted));
  std::string body;
  json::Writer writer(body);
  writer.begin_object().key("jobs").begin_array();
  for (const jobs::Enqueued& one : enqueued) {
    writer.begin_object().field("id", one.id).field("duplicate", one.duplicate).end_object();
  }
  writer.end_array().end_object();
  co_return http::Response::json(201, std::move(body));
}

Task<http::Response> claim(Jobs& jobs, http::Request& request) {
  auto wanted = decode_body<ClaimBody>(request);
  if (!wanted) co_return std::move(wanted.error());
  jobs::ClaimRequest asked{.worker = std::move(wanted->worker),
                           .kinds = std::move(wanted->kinds),
                           .limit = static_cast<size_t>(wanted->limit)};
  const std::chrono::milliseconds wait(wanted->wait_ms);
  const std::vector<jobs::ClaimedJob> claimed = co_await jobs.claim(std::move(asked), wait);
  std::string body;
  json::Writer writer(body);
  writer.begin_object().key("jobs").begin_array();
  for (const jobs::ClaimedJob& job : claimed) {
    writer.begin_object().field("id", job.id).field("kind", job.kind).key("payload").raw(job.payload);
    writer.field("attempt", job.attempt).field("lockToken", std::to_string(job.token));
    writer.field("lockExpiresAt", job.lock_expires_at).field("throttleKey", job.throttle_key).end_object();
  }
  writer.end_array().end_object();
  co_return http::Response::json(200, std::move(body));
}

template <class Item>
http::Response results(const std::vector<Item>& items, const std::vector<Verdict>& verdicts) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object().key("results").begin_array();
  for (size_t i = 0; i < items.size(); ++i) {
    const bool accepted = verdicts[i] == Verdict::accepted;
    writer.begin_object().field("id", items[i].id).field("accepted", accepted);
    if (!accepted) writer.field("reason", verdicts[i]);
    writer.end_object();
  }
  writer.end_array().end_object();
  return http::Response::json(200, std::move(body));
}

Task<http::Response> complete(Jobs& jobs, http::Request& request) {
  auto wanted = decode_body<ItemsBody<CompletionItem>>(request);
  if (!wanted) co_return std::move(wanted.error());
  std::vector<jobs::Completion> completions;
  for (CompletionItem& item : wanted->jobs) {
    completions.push_back({item.lock(), std::nullopt});
    if (item.result) completions.back().result = std::move(item.result->text);
  }
  const std::vector<Verdict> verdicts = co_await jobs.complete(std::move(completions));
  co_return results(wanted->jobs, verdicts);
}

Task<http::Response> fail(Jobs& jobs, http::Request& request) {
  auto wanted = decode_body<ItemsBody<FailureItem>>(request);
  if (!wanted) co_return std::move(wanted.error());
  std::vector<jobs::Failure> failures;
  for (FailureItem& item : wanted->jobs) failures.push_back({item.lock(), std::move(item.error), item.permanent});
  const std::vector<jobs::FailVerdict> judged = co_await jobs.fail(std::move(failures));
  std::vector<Verdict> verdicts;
  for (const jobs::FailVerdict& one : judged) verdicts.push_back(one.verdict);
  co_return results(wanted->jobs, verdicts);
}

Task<http::Response> heartbeat(Jobs& jobs, http::Request& request) {
  auto wanted = decode_body<ItemsBody<LockItem>>(request);
  if (!wanted) co_return std::move(wanted.error());
  std::vector<LockedJob> locks;
  for (const LockItem& item : wanted->jobs) locks.push_back(item.lock());
  const std::vector<Verdict> verdicts = co_await jobs.store().renew(std::move(locks));
  co_return results(wanted->jobs, verdicts);
}

using Serve = Task<http::Response> (*)(Jobs&, http::Request&);

struct Post {
  std::string pattern;
  std::string summary;
  std::string body_schema;
  std::vector<Answer> answers;
  Serve serve;
  http::RouteOptions options{.max_body = largest_body};
};

void add_post(Api& api, Jobs& jobs, Post post) {
  post.answers.push_back({422, "A value cannot be; `field` names it."});
  api.add({.method = http::Method::post,
           .pattern = std::move(post.pattern),
           .tag = "jobs",
           .summary = std::move(post.summary),
           .role = accounts::Role::service,
           .body_schema = std::move(post.body_schema),
           .answers = std::move(post.answers),
           .options = std::move(post.options),
           .action = [&jobs, serve = post.serve](const Call& call) { return serve(jobs, call.request); }});
}

void add_verdicts(Api& api, Jobs& jobs, const char* name, std::string summary, std::string schema, Serve serve) {
  add_post(api, jobs,
           {.pattern = fmt::format("/api/v1/jobs/{}", name),
            .summary = std::move(summary),
            .body_schema = std::move(schema),
            .answers = {{200, "Each is accepted or refused alone.", std::string(results_schema)}},
            .serve = serve});
}

}  // namespace

void add_job_routes(Api& api, Jobs& jobs) {
  add_post(api, jobs,
           {.pattern = "/api/v1/jobs",
            .summary = "Adds jobs, all of them or none.",
            .body_schema = json::schema<EnqueueBody>(),
            .answers = {{201, "In the order of the request; a duplicate has the id of the job that was there.",
                         std::string(enqueued_schema)}},
            .serve = enqueue});
  add_post(api, jobs,
           {.pattern = "/api/v1/jobs/claim",
            .summary = "Takes jobs to work on, each under a lock that ends unless it is renewed.",
            .body_schema = json::schema<ClaimBody>(),
            .answers = {{200, "None where nothing came in time.", std::string(claimed_schema)}},
            .serve = claim,
            .options = {.max_body = 64 << 10, .timeout = 45s}});
  add_verdicts(api, jobs, "complete", "Work is done.", json::schema<ItemsBody<CompletionItem>>(), complete);
  add_verdicts(api, jobs, "fail", "Work could not be done; it is tried again, or the job is dead.",
               json::schema<ItemsBody<FailureItem>>(), fail);
  add_verdicts(api, jobs, "heartbeat", "Work goes on: renews the locks.", json::schema<ItemsBody<LockItem>>(),
               heartbeat);
  add_job_view_routes(api, jobs);
}

}  // namespace sluice::api
