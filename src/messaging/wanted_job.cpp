#include "messaging/wanted_job.h"

#include "base/json.h"

namespace sluice::messaging {
namespace {

std::string json_of(const WantedJob& job) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().field("kind", job.kind).key("payload").raw(job.payload);
  writer.key("priority").integer(job.priority);
  if (job.unique_key) writer.field("uniqueKey", *job.unique_key);
  if (job.run_after) writer.field("runAfter", *job.run_after);
  if (job.max_attempts) writer.key("maxAttempts").integer(*job.max_attempts);
  if (job.throttle_key) writer.field("throttleKey", *job.throttle_key);
  writer.end_object();
  return text;
}

}  // namespace

OutboxMessage ask_for_job(const WantedJob& job, JobAsker asker, MessageId id) {
  return {.topic = wanted_jobs_topic,
          .aggregate_type = std::move(asker.aggregate_type),
          .aggregate_id = std::move(asker.aggregate_id),
          .aggregate_version = asker.aggregate_version,
          .event_type = "JobWanted",
          .payload = json_of(job),
          .id = id};
}

}  // namespace sluice::messaging
