#include "api/job_view.h"

namespace sluice {
namespace jobs {
namespace {

// As the claim gave it.
std::optional<std::string> lock_token(const Job& job) {
  if (job.lock_token == 0) return std::nullopt;
  return std::to_string(job.lock_token);
}

std::optional<json::RawView> result(const Job& job) {
  if (!job.result) return std::nullopt;
  return json::RawView{*job.result};
}

std::optional<std::string_view> outcome(const Attempt& attempt) {
  if (attempt.outcome.empty()) return std::nullopt;
  return attempt.outcome;
}

template <std::derived_from<Job> T>
void describe_job(json::Object<T>& object) {
  object.required("id", &Job::id);
  object.required("kind", &Job::kind);
  object.required("uniqueKey", &Job::unique_key);
  object.required("payload", [](const Job& job) { return json::RawView{job.payload}; });
  object.required("priority", &Job::priority);
  object.required("status", &Job::status);
  object.required("attempts", &Job::attempts).at_least(0);
  object.required("maxAttempts", &Job::max_attempts).at_least(1);
  object.required("runAfter", &Job::run_after);
  object.required("lockedAt", &Job::locked_at);
  object.required("lockedBy", &Job::locked_by);
  object.required("lockToken", lock_token);
  object.required("throttleKey", &Job::throttle_key);
  object.required("lastError", &Job::last_error);
  object.required("result", result);
  object.required("createdAt", &Job::created_at);
  object.required("updatedAt", &Job::updated_at);
  object.required("finishedAt", &Job::finished_at);
}

}  // namespace

static void describe(json::Object<Attempt>& object) {
  object.required("attempt", &Attempt::number).at_least(1);
  object.required("startedAt", &Attempt::started_at);
  object.required("endedAt", &Attempt::ended_at);
  object.required("worker", &Attempt::worker);
  object.required("outcome", outcome);
  object.required("error", &Attempt::error);
}

static void describe(json::Object<JobRates>& object) {
  object.required("added", &JobRates::added);
  object.required("succeeded", &JobRates::succeeded);
  object.required("failed", &JobRates::failed);
  object.required("dead", &JobRates::dead);
  object.required("canceled", &JobRates::canceled);
}

static void describe(json::Object<KindStats>& object) {
  object.required("kind", &KindStats::kind);
  object.required("counts", &KindStats::counts).at_least(0);
  object.required("oldestWaiting", &KindStats::oldest_waiting);
  object.required("finishedPerSecond", [](const KindStats& kind) { return kind.rates.finished(); });
  object.required("rates", &KindStats::rates);
}

static void describe(json::Object<FailingKey>& object) {
  object.required("kind", &FailingKey::kind);
  object.required("throttleKey", &FailingKey::throttle_key);
  object.required("failures", &FailingKey::failures).at_least(1);
}

void describe(json::Object<Job>& object) {
  describe_job(object);
}

void describe(json::Object<JobPage>& object) {
  object.required("jobs", &JobPage::jobs);
  object.optional("next", &JobPage::next).omit_null();
}

void describe(json::Object<JobStats>& object) {
  object.required("kinds", &JobStats::kinds);
  object.required("topFailing", &JobStats::top_failing);
}

}  // namespace jobs

void api::JobWithHistory::describe(json::Object<JobWithHistory>& object) {
  jobs::describe_job(object);
  object.required("history", &JobWithHistory::history).about("All tries, oldest first. Omitted in lists.");
}

}  // namespace sluice
