// The job queue over HTTP, for workers in any language and for operators.
#pragma once

#include "api/api.h"
#include "jobs/jobs.h"

namespace sluice::api {

// `jobs` must outlive the server.
void add_job_routes(Api& api, jobs::Jobs& jobs);

// Looking at jobs, retrying and cancelling them; part of add_job_routes.
void add_job_view_routes(Api& api, jobs::Jobs& jobs);

}  // namespace sluice::api
