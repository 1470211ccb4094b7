// The fixture of leases_contract.cpp, for the engines that run it.
#pragma once

#include "coordination/leases.h"
#include "tests/contract/port_fixture.h"

namespace sluice::test {

class LeasesContract : public PortFixture<coordination::Leases> {
 protected:
  using Lease = coordination::Lease;
  using Token = coordination::LeaseToken;

  void SetUp() override {
    PortFixture::SetUp();
    key_ = unique("lease");
  }

  std::optional<Token> acquire(const std::string& key, const std::string& owner, Duration ttl = 1min) {
    return run(port().acquire(key, owner, ttl));
  }
  std::vector<Lease> renew(const std::vector<Lease>& leases, Duration ttl = 1min) {
    const auto renewal = run(port().renew(leases, ttl));
    EXPECT_TRUE(renewal.unknown.empty()) << renewal.failure;
    return renewal.renewed;
  }
  void release(const std::string& key, Token token) { run(port().release({key, token})); }
  std::string owner_of(const std::string& key) {
    const auto holder = run(port().holder(key));
    return holder ? holder->owner : "";
  }
  // The tokens of `callers` concurrent callers.
  std::vector<Token> race(const std::string& key, int callers) {
    std::vector<Task<std::optional<Token>>> asking;
    for (int i = 0; i < callers; ++i) asking.push_back(port().acquire(key, fmt::format("caller {}", i), 1min));
    std::vector<Token> got;
    for (const std::optional<Token>& token : values_of(std::move(asking))) {
      if (token) got.push_back(*token);
    }
    return got;
  }

  std::string key_;
};

}  // namespace sluice::test
