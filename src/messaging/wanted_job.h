// A job that a service wants done, asked for in the transaction of its own change.
//
// The queue belongs to another service. A service that puts this message into its outbox gets the job exactly when its
// change is committed; delivered twice, the job is added once (jobs/enqueue_messages.h). Within the queue's own schema
// jobs are added directly instead.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "messaging/outbox_message.h"

namespace sluice::messaging {

inline constexpr const char* wanted_jobs_topic = "jobs.enqueue";

// As in POST /api/v1/jobs.
struct WantedJob {
  std::string kind;
  std::string payload;  // JSON
  // At most one job of the kind that is live or has succeeded has this key.
  std::optional<std::string> unique_key{};
  int32_t priority = 0;                       // lower first
  std::optional<Time> run_after{};            // now by default
  std::optional<int32_t> max_attempts{};      // the kind's setting by default
  std::optional<std::string> throttle_key{};  // jobs with the same key share a limit
};

// The requester: jobs requested by one aggregate are added in order.
struct JobAsker {
  std::string aggregate_type;
  std::string aggregate_id;
  int64_t aggregate_version = 0;
};

// `id` tells this wish from every other; a new one, unless the change itself may be repeated.
OutboxMessage ask_for_job(const WantedJob& job, JobAsker asker, MessageId id);

}  // namespace sluice::messaging
