// Facts about a try claimed over HTTP, encoded as its lock token.
//
// The worker sends the token back, to any instance, when the job has ended. So each instance knows the kind of the job
// and how long it took, and keeps nothing. A worker may have changed the token: only its number decides, and the rest
// is counted only if the store has accepted the number.
#pragma once

#include <string>
#include <string_view>

#include "jobs/job.h"

namespace sluice::jobs {

struct OutsideTry {
  LockToken token = 0;
  std::string kind{};
  std::optional<std::string> throttle_key{};
  Time claimed_at{};

  bool operator==(const OutsideTry&) const = default;
};

std::string to_text(const OutsideTry& outside);

// The number alone, as an operator sees it, says nothing of the try: then `kind` is empty. Nothing where it is no
// token, also where a kind, a throttle key or a time is out of bounds.
std::optional<OutsideTry> parse_outside_try(std::string_view text);

}  // namespace sluice::jobs
