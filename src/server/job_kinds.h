// The kinds of job that this program works on itself, with what is settled for them where [jobs.kinds] says nothing
// else.
#pragma once

#include "jobs/jobs_config.h"

namespace sluice::server {

// A configuration that knows them.
jobs::JobsConfig jobs_with_own_kinds();

}  // namespace sluice::server
