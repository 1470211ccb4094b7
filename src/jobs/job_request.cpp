#include "jobs/job_request.h"

namespace sluice::jobs {

void JobRequest::describe(json::Object<JobRequest>& object) {
  object.required("kind", &JobRequest::kind)
      .length(1, max_kind_characters)
      .about("Any name; settings are [jobs.kinds.NAME].")
      .example(R"("send-mail")");
  object.required("payload", &JobRequest::payload)
      .length(0, max_payload_bytes)
      .about("Any JSON, up to 1 MiB.")
      .example(R"({"to":"kim@example.org"})");
  object.optional("uniqueKey", &JobRequest::unique_key)
      .length(1, 500)
      .about("Key that at most one live or succeeded job of the kind has.");
  object.optional("priority", &JobRequest::priority).range(INT32_MIN, INT32_MAX).about("Lower numbers run first.");
  object.optional("runAfter", &JobRequest::run_after).about("Earliest start; now by default.");
  object.optional("maxAttempts", &JobRequest::max_attempts)
      .range(1, 1'000)
      .about("Tries before the job is dead; the kind's setting by default.");
  object.optional("throttleKey", &JobRequest::throttle_key)
      .length(1, max_throttle_key_characters)
      .about("Jobs with the same key share a limit: a domain, a customer.");
}

NewJob JobRequest::job() && {
  NewJob job{.kind = std::move(kind),
             .payload = std::move(payload.text),
             .unique_key = std::move(unique_key),
             .priority = static_cast<int32_t>(priority),
             .run_after = run_after,
             .throttle_key = std::move(throttle_key)};
  if (max_attempts) job.max_attempts = static_cast<int32_t>(*max_attempts);
  return job;
}

}  // namespace sluice::jobs
