// The fixture of blocked_domains_contract.cpp, for the engines that run it.
#pragma once

#include <algorithm>

#include "links/blocked_domains.h"
#include "tests/contract/port_fixture.h"

namespace sluice::test {

// The domains of an engine, and what only it can do.
class TestedBlockedDomains {
 public:
  virtual ~TestedBlockedDomains() = default;
  virtual links::BlockedDomains& domains() = 0;
  // As if the domain had been blamed last at that time, for every reason.
  virtual Task<> set_last(std::string domain, Time at) = 0;
};

class BlockedDomainsContract : public PortFixture<TestedBlockedDomains> {
 protected:
  using BlockedDomains = links::BlockedDomains;
  using FailureReason = links::FailureReason;

  void SetUp() override {
    PortFixture::SetUp();
    domain_ = unique("blocked") + ".test";
  }
  std::optional<links::BlockedDomain> candidate(const std::string& domain) {
    const auto all = run(port().domains().candidates(100'000));
    const auto found = std::ranges::find(all, domain, &links::BlockedDomain::domain);
    return found == all.end() ? std::nullopt : std::optional(*found);
  }

  std::string domain_;
};

}  // namespace sluice::test
