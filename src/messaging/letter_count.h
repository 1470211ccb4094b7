// The number of open letters in one partition of a dead-letter topic, updated incrementally: a count reads only the
// entries added since the last one.
#pragma once

#include <unordered_map>

#include "messaging/dead_letter.h"
#include "messaging/log_view.h"

namespace sluice::messaging {

// Fed with everything the partition holds, in order.
class LetterCount {
 public:
  static constexpr size_t most_open = 100'000;

  // Entries removed from the log are no longer open. Returns where to continue reading; then call `reached` with the
  // end.
  int64_t begin(const PartitionBounds& bounds);
  void add(const Delivery& delivery);
  void reached(const PartitionBounds& bounds) { next_ = bounds.end; }

  size_t open() const { return last_.size(); }

 private:
  int64_t next_ = 0;
  std::unordered_map<std::string, int64_t> last_;  // offset of the last letter about each subject
  bool incomplete_ = false;  // too many are open: some were left out, so the next look starts over
};

}  // namespace sluice::messaging
