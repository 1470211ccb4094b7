// The jobs of one claim, until the last has ended and the log gets its line about them.
#pragma once

#include <map>
#include <string>

#include "jobs/job.h"

namespace sluice::jobs {

class JobBatch {
 public:
  explicit JobBatch(size_t claimed) : claimed_(claimed), left_(claimed) {}

  void ended(const ClaimedJob& job, bool succeeded, Duration took);

 private:
  void write_log() const;
  std::string worst_keys() const;

  size_t claimed_;
  size_t left_;
  size_t succeeded_ = 0;
  Duration total_{0};
  Duration longest_{0};
  std::map<std::string, size_t> failures_;  // by throttle key
};

}  // namespace sluice::jobs
