// Adds the jobs that other services ask for by messages of the topic `jobs.enqueue`, which they put into their outbox
// together with their own change (messaging/wanted_job.h).
//
// A message carries one job as requests write it (jobs/job_request.h). Delivered twice it adds one job, also where that
// job has died or was cancelled meanwhile: that the message was seen commits with the job. A message without an id,
// which came through no outbox, is known by its place in the log and the time it was published. While the tables are
// not migrated yet, messages wait.
#pragma once

#include "jobs/jobs.h"
#include "messaging/consumer_config.h"
#include "messaging/handled.h"
#include "messaging/wanted_job.h"

namespace sluice::jobs {

// `jobs` must outlive the consumer.
messaging::Handler enqueue_handler(Jobs& jobs);

}  // namespace sluice::jobs
