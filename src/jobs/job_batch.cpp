#include "jobs/job_batch.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "runtime/log.h"

namespace sluice::jobs {
namespace {

constexpr size_t keys_named = 3;

int64_t milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

void JobBatch::ended(const std::optional<std::string>& throttle_key, JobEnd end, std::optional<Duration> took) {
  if (took) {
    ++timed_;
    total_ += *took;
    longest_ = std::max(longest_, *took);
  }
  switch (end) {
    case JobEnd::succeeded: ++succeeded_; break;
    case JobEnd::failed:
    case JobEnd::dead:
      ++failed_;
      if (throttle_key) ++failures_[*throttle_key];
      break;
    case JobEnd::released: ++released_; break;
    case JobEnd::lost: break;
  }
  if (--left_ == 0) write_log();
}

void JobBatch::write_log() const {
  log::info("jobs ended",
            {{"batch_claimed_count", claimed_},
             {"job_duration_ms", milliseconds(total_) / static_cast<int64_t>(std::max<size_t>(1, timed_))},
             {"job_duration_max_ms", milliseconds(longest_)},
             {"success_count", succeeded_},
             {"fail_count", failed_},
             {"released_count", released_},
             {"lost_count", claimed_ - succeeded_ - failed_ - released_},
             {"failing_domains", worst_keys()}});
}

// "example.com 3, example.org 1"
std::string JobBatch::worst_keys() const {
  std::vector<std::pair<std::string, size_t>> keys(failures_.begin(), failures_.end());
  std::ranges::sort(keys, [](const auto& a, const auto& b) {
    return std::pair(b.second, std::string_view(a.first)) < std::pair(a.second, std::string_view(b.first));
  });
  keys.resize(std::min(keys.size(), keys_named));
  std::string text;
  for (const auto& [key, count] : keys) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, count);
  return text;
}

}  // namespace sluice::jobs
