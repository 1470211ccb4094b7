// The fixture of fenced_leases_contract.cpp, for the engines that run it.
#pragma once

#include "coordination/fenced_leases.h"
#include "tests/contract/port_fixture.h"

namespace sluice::test {

class FencedLeasesContract : public PortFixture<coordination::FencedLeases> {
 protected:
  using Fence = coordination::Fence;
  using FencedLease = coordination::FencedLease;

  void SetUp() override {
    PortFixture::SetUp();
    key_ = unique("lease");
  }

  std::optional<Fence> acquire(const std::string& key, const std::string& owner, Duration ttl = 1min) {
    return run(port().acquire(key, owner, ttl));
  }
  void release(const std::string& key, Fence fence) { run(port().release({key, fence})); }
  std::string owner_of(const std::string& key) {
    const auto holder = run(port().holder(key));
    return holder ? holder->owner : "";
  }
  // The fences of `callers` concurrent callers.
  std::vector<Fence> race(const std::string& key, int callers) {
    std::vector<Task<std::optional<Fence>>> asking;
    for (int i = 0; i < callers; ++i) asking.push_back(port().acquire(key, fmt::format("caller {}", i), 1min));
    std::vector<Fence> got;
    for (const std::optional<Fence>& fence : values_of(std::move(asking))) {
      if (fence) got.push_back(*fence);
    }
    return got;
  }

  std::string key_;
};

}  // namespace sluice::test
