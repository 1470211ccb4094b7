// A partition that a consumer owns, for one assignment.
#pragma once

#include <memory>
#include <optional>

#include "messaging/finished_prefix.h"
#include "messaging/subscription.h"

namespace sluice::messaging {

struct HeldPartition {
  explicit HeldPartition(AssignmentRef of)
      : assignment(std::move(of)),
        salt(std::hash<std::string>{}(assignment->topic) +
             static_cast<uint64_t>(assignment->partition) * 0x9e3779b97f4a7c15) {}

  AssignmentRef assignment;
  uint64_t salt;  // tells its keys from those of other partitions
  FinishedPrefix prefix{};
  size_t bytes = 0;  // of its unfinished messages
  std::optional<int64_t> committed{};
  bool paused = false;
  std::optional<Instant> leave_by{};  // asked back
  // owned by another member: none of its messages begins any more, and no end of one counts
  bool ended = false;
};

}  // namespace sluice::messaging
