// Jobs as clients see them: alone, in pages and in numbers.
#pragma once

#include "base/json.h"
#include "jobs/job_store.h"

namespace sluice::jobs {

void describe(json::Object<Job>& object);  // without its history
void describe(json::Object<JobPage>& object);
void describe(json::Object<JobStats>& object);

}  // namespace sluice::jobs

namespace sluice::api {

struct JobWithHistory : jobs::Job {
  static void describe(json::Object<JobWithHistory>& object);
};

}  // namespace sluice::api
