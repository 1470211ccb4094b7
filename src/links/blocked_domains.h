// Domains that refuse visits: candidates for blocking, until an operator decides.
//
// robots.txt and a captcha count at once. A single 403 may be accidental; a domain counts as refusing when it repeats
// it, over all its links. A day without one resets the count.
//
// Every implementation passes tests/contract/blocked_domains_contract.cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "links/link_failure.h"
#include "runtime/task.h"

namespace sluice::links {

struct BlockedDomain {
  std::string domain;
  int64_t count = 0;
  std::map<FailureReason, int64_t> reasons{};
  Time first_at{};
  Time last_at{};
};

class BlockedDomains {
 public:
  // So often a domain answers "forbidden" until it is believed, if no two are further apart than `forgotten_after`.
  static constexpr int64_t whims = 3;
  static constexpr Duration forgotten_after = std::chrono::days(1);

  virtual ~BlockedDomains() = default;

  // Counts one more failure of the domain for that reason; how many there are of it.
  virtual Task<int64_t> blame(std::string domain, FailureReason reason) = 0;

  // Those that are believed, with the most failures first; of their reasons only those that count.
  virtual Task<std::vector<BlockedDomain>> candidates(size_t most) = 0;
};

}  // namespace sluice::links
