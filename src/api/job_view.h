// A job as clients see it, alone, in pages and in numbers.
#pragma once

#include <string>
#include <string_view>

#include "jobs/job_store.h"

namespace sluice::api {

std::string job_json(const jobs::Job& job);  // with its history
std::string page_json(const jobs::JobPage& page);
std::string stats_json(const jobs::JobStats& stats);

extern const std::string_view job_schema;
extern const std::string_view stats_schema;

}  // namespace sluice::api
