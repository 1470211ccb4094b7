// What is counted of jobs, by our own workers and by those who claim over HTTP.
#pragma once

#include <string_view>

#include "base/time.h"

namespace sluice::jobs {

void count_claimed(size_t jobs);
// `outcome` is succeeded, failed, dead, released or lost.
void observe_duration(std::string_view kind, std::string_view outcome, Duration duration);

}  // namespace sluice::jobs
