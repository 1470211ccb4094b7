// The fixture of link_store_contract.cpp, for the engines that run it.
#pragma once

#include "tests/contract/link_stores_fixture.h"

namespace sluice::test {

class LinkStoreContract : public LinkStoresFixture {};

class BlockedDomainsContract : public LinkStoresFixture {
 protected:
  void SetUp() override {
    LinkStoresFixture::SetUp();
    blocked_.emplace(database());
  }
  std::optional<links::BlockedDomain> candidate(const std::string& domain) {
    const auto all = run(blocked_->candidates(100'000));
    const auto found = std::ranges::find(all, domain, &links::BlockedDomain::domain);
    return found == all.end() ? std::nullopt : std::optional(*found);
  }

  std::optional<sql::SqlBlockedDomains> blocked_;
};

}  // namespace sluice::test
