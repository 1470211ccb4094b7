// The kinds of job that this program runs itself, with their default settings.
#pragma once

#include "jobs/jobs_config.h"

namespace sluice::server {

// A configuration that knows them.
jobs::JobsConfig jobs_with_own_kinds();

}  // namespace sluice::server
