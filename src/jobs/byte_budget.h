// Decides how many jobs to ask for at a time when their sizes are unknown.
//
// A payload may have a mebibyte, and a caller may want a thousand jobs. A few are taken first, then more and more as
// long as they are small; when the budget is spent, the claim ends. So memory is bounded by the budget and one step,
// and small jobs need few steps.
#pragma once

#include <algorithm>
#include <cstddef>

namespace sluice::jobs {

class ByteBudget {
 public:
  static constexpr size_t first_helping = 16;

  explicit ByteBudget(size_t wanted, size_t bytes = size_t{8} << 20) : wanted_(wanted), left_(bytes) {}

  // 0 where it is enough.
  size_t next() const {
    if (left_ == 0) return 0;
    const size_t fitting = std::max<size_t>(1, left_ / std::max<size_t>(1, usual_size_));
    return std::min({wanted_, helping_, fitting});
  }
  void took(size_t jobs, size_t bytes) {
    wanted_ -= std::min(wanted_, jobs);
    left_ -= std::min(left_, bytes);
    helping_ *= 4;
    usual_size_ = std::max(usual_size_, bytes / std::max<size_t>(1, jobs));
  }

 private:
  size_t wanted_;
  size_t left_;  // bytes
  size_t helping_ = first_helping;
  size_t usual_size_ = 0;
};

}  // namespace sluice::jobs
