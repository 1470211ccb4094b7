// The jobs of one claim, until the last has ended and the log gets its line about them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/enum_names.h"
#include "base/time.h"

namespace sluice::jobs {

// How a try ended.
enum class JobEnd { succeeded, failed, dead, released, lost };

constexpr auto enum_names(JobEnd) {
  return std::to_array<EnumName<JobEnd>>({{JobEnd::succeeded, "succeeded"},
                                          {JobEnd::failed, "failed"},
                                          {JobEnd::dead, "dead"},
                                          {JobEnd::released, "released"},
                                          {JobEnd::lost, "lost"}});
}

class JobBatch {
 public:
  explicit JobBatch(size_t claimed) : claimed_(claimed), left_(claimed) {}

  // Adds an ended job. Jobs handed back and jobs whose lock was lost are neither successes nor failures. `took` is
  // omitted in the log if it is unknown.
  void ended(const std::optional<std::string>& throttle_key, JobEnd end, std::optional<Duration> took);

 private:
  void write_log() const;
  std::string worst_keys() const;

  size_t claimed_;
  size_t left_;
  size_t succeeded_ = 0;
  size_t failed_ = 0;
  size_t released_ = 0;
  size_t timed_ = 0;
  Duration total_{0};  // of those
  Duration longest_{0};
  std::map<std::string, size_t> failures_;  // by throttle key
};

}  // namespace sluice::jobs
