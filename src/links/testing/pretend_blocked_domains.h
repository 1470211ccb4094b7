// Domains that refuse visits, in virtual time.
//
// For testing what blames them. Passes the contract suite of BlockedDomains as real ones do
// (tests/contract/pretend_ports_test.cpp). Serves one thread.
#pragma once

#include <algorithm>
#include <utility>

#include "links/blocked_domains.h"
#include "runtime/clock.h"

namespace sluice::links {

class PretendBlockedDomains : public BlockedDomains {
 public:
  struct Row {
    int64_t count = 0;
    Time first_at{};
    Time last_at{};
  };

  explicit PretendBlockedDomains(Clock& clock) : clock_(clock) {}

  Task<int64_t> blame(std::string domain, FailureReason reason) override {
    const Time now = clock_.wall();
    Row& row = rows.try_emplace({std::move(domain), reason}, Row{0, now, now}).first->second;
    if (reason == FailureReason::forbidden && row.last_at < now - forgotten_after) row.count = 0;
    row.last_at = now;
    co_return ++row.count;
  }
  Task<std::vector<BlockedDomain>> candidates(size_t most) override {
    std::vector<BlockedDomain> all;
    for (const auto& [key, row] : rows) {
      const auto& [domain, reason] = key;
      if (reason == FailureReason::forbidden && row.count < whims) continue;
      if (all.empty() || all.back().domain != domain) {
        all.push_back({.domain = domain, .first_at = row.first_at, .last_at = row.last_at});
      }
      BlockedDomain& found = all.back();
      found.count += row.count;
      found.reasons.emplace(reason, row.count);
      found.first_at = std::min(found.first_at, row.first_at);
      found.last_at = std::max(found.last_at, row.last_at);
    }
    std::ranges::sort(all, {}, [](const BlockedDomain& found) { return std::pair(-found.count, found.domain); });
    all.resize(std::min(all.size(), most));
    co_return all;
  }

  std::map<std::pair<std::string, FailureReason>, Row> rows;

 private:
  Clock& clock_;
};

}  // namespace sluice::links
