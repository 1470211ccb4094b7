#include "api/job_view.h"

#include "base/json.h"

namespace sluice::api {
namespace {

using jobs::Job;

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

void write_rates(json::Writer& writer, const jobs::JobRates& rates) {
  writer.begin_object().field("added", rates.added).field("succeeded", rates.succeeded);
  writer.field("failed", rates.failed).field("dead", rates.dead).field("canceled", rates.canceled).end_object();
}

}  // namespace

constexpr std::string_view job_schema =
    R"({"type":"object","required":["id","kind","uniqueKey","payload","priority","status","attempts","maxAttempts",)"
    R"("runAfter","lockedAt","lockedBy","lockToken","throttleKey","lastError","result","createdAt","updatedAt",)"
    R"("finishedAt"],"properties":{"id":{"type":"string","format":"uuid"},"kind":{"type":"string"},)"
    R"("uniqueKey":{"type":["string","null"]},"payload":{},"priority":{"type":"integer"},)"
    R"("status":{"type":"string","enum":["queued","running","succeeded","failed","dead","canceled"]},)"
    R"("attempts":{"type":"integer","minimum":0},"maxAttempts":{"type":"integer","minimum":1},)"
    R"("runAfter":{"type":"string","format":"date-time"},"lockedAt":{"type":["string","null"],"format":"date-time"},)"
    R"("lockedBy":{"type":["string","null"]},"lockToken":{"type":["string","null"]},)"
    R"("throttleKey":{"type":["string","null"]},"lastError":{"type":["string","null"]},"result":{},)"
    R"("createdAt":{"type":"string","format":"date-time"},"updatedAt":{"type":"string","format":"date-time"},)"
    R"("finishedAt":{"type":["string","null"],"format":"date-time"},)"
    R"("history":{"type":"array","description":"Omitted in lists.","items":{"type":"object",)"
    R"("required":["attempt","startedAt","endedAt","worker","outcome","error"],"properties":{)"
    R"("attempt":{"type":"integer","minimum":1},"startedAt":{"type":"string","format":"date-time"},)"
    R"("endedAt":{"type":["string","null"],"format":"date-time"},"worker":{"type":"string"},)"
    R"("outcome":{"type":["string","null"]},"error":{"type":["string","null"]}}}}}})";
constexpr std::string_view stats_schema =
    R"({"type":"object","required":["kinds","topFailing"],"properties":{"kinds":{"type":"array","items":{)"
    R"("type":"object","required":["kind","counts","oldestWaiting","finishedPerSecond","rates"],"properties":{)"
    R"("kind":{"type":"string"},"counts":{"type":"object","additionalProperties":{"type":"integer","minimum":0}},)"
    R"("oldestWaiting":{"type":["string","null"],"format":"date-time"},"finishedPerSecond":{"type":"number"},)"
    R"("rates":{"type":"object","required":["added","succeeded","failed","dead","canceled"],"properties":{)"
    R"("added":{"type":"number"},"succeeded":{"type":"number"},"failed":{"type":"number"},"dead":{"type":"number"},)"
    R"("canceled":{"type":"number"}}}}}},"topFailing":{"type":"array","items":{"type":"object",)"
    R"("required":["kind","throttleKey","failures"],"properties":{"kind":{"type":"string"},)"
    R"("throttleKey":{"type":"string"},"failures":{"type":"integer","minimum":1}}}}}})";

std::string job_json(const Job& job) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object();
  write_job(writer, job);
  write_history(writer, job);
  writer.end_object();
  return body;
}

std::string page_json(const jobs::JobPage& page) {
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
  return body;
}

std::string stats_json(const jobs::JobStats& stats) {
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
  return body;
}

}  // namespace sluice::api
