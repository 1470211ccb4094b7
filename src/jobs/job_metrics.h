// Metrics of jobs, of our own workers and of workers over HTTP.
#pragma once

#include <string_view>

#include "base/time.h"

namespace sluice::jobs {

void count_claimed(size_t jobs);
// Jobs of this kind are measured under its name, however many kinds there are; called at start.
void keep_kind(std::string_view kind);
// `outcome` is succeeded, failed, dead, released or lost. Of kinds that are not kept the first are
// measured under their names, the rest together as "other".
void observe_duration(std::string_view kind, std::string_view outcome, Duration duration);

}  // namespace sluice::jobs
