// Domains that do not want us: candidates for blocking, until somebody decides.
//
// Every implementation passes tests/contract/blocked_domains_contract.h.
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
  virtual ~BlockedDomains() = default;

  // Counts one more failure of the domain for that reason; how many there are of it.
  virtual Task<int64_t> blame(std::string domain, FailureReason reason) = 0;

  // Those with the most failures first.
  virtual Task<std::vector<BlockedDomain>> candidates(size_t most) = 0;
};

}  // namespace sluice::links
