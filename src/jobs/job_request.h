// A new job as it is written in JSON: in requests and in messages of the topic `jobs.enqueue`.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "jobs/job.h"

namespace sluice::jobs {

inline constexpr size_t max_kind_characters = 100;
inline constexpr size_t max_throttle_key_characters = 255;
inline constexpr size_t max_payload_bytes = size_t{1} << 20;
inline constexpr size_t max_result_bytes = size_t{1} << 20;

struct JobRequest {
  std::string kind;
  json::Raw payload;
  std::optional<std::string> unique_key;
  int64_t priority = 0;
  std::optional<Time> run_after;
  std::optional<int64_t> max_attempts;
  std::optional<std::string> throttle_key;

  static void describe(json::Object<JobRequest>& object);
  NewJob job() &&;
};

}  // namespace sluice::jobs
