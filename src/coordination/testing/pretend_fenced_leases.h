// Fenced leases of one process, whose engine can be made to hang, to fail and to refuse.
//
// For testing what holds them, in virtual time. Passes the contract suite of FencedLeases as real ones do
// (tests/contract/pretend_coordination_test.cpp). Serves one thread.
#pragma once

#include <algorithm>
#include <map>

#include "coordination/fenced_leases.h"
#include "runtime/clock.h"
#include "runtime/errors.h"

namespace sluice::coordination {

class PretendFencedLeases : public FencedLeases {
 public:
  explicit PretendFencedLeases(Clock& clock) : clock_(clock) {}

  Task<std::optional<Fence>> acquire(std::string key, std::string owner, Duration ttl) override {
    ++asked;
    FencedLeaseHolder& last = holders_[key];
    if (last.until > clock_.wall()) co_return std::nullopt;
    last = {std::move(owner), last.fence + 1, clock_.wall() + ttl};
    co_return last.fence;
  }
  Task<std::vector<FencedLease>> renew(std::vector<FencedLease> leases, Duration ttl) override {
    ++renewals;
    largest = std::max(largest, leases.size());
    if (hanging) co_await clock_.sleep_for(1h);
    if (down) throw EngineUnavailable("test", "down");
    if (refuses) throw EngineRefused("no such table");
    std::vector<FencedLease> renewed;
    for (const FencedLease& lease : leases) {
      if (!held(lease)) continue;
      holders_[lease.key].until = clock_.wall() + ttl;
      renewed.push_back(lease);
    }
    co_return renewed;
  }
  Task<> release(FencedLease lease) override {
    if (held(lease)) holders_[lease.key].until = clock_.wall();
    co_return;
  }
  Task<std::optional<FencedLeaseHolder>> holder(std::string key) override {
    const FencedLeaseHolder& last = holders_[key];
    if (last.until <= clock_.wall()) co_return std::nullopt;
    co_return last;
  }

  // Another holder has it from now on.
  void take_away(const std::string& key) { ++holders_[key].fence; }

  bool down = false;
  bool hanging = false;
  bool refuses = false;
  int asked = 0;
  int renewals = 0;
  size_t largest = 0;  // of all renewals

 private:
  bool held(const FencedLease& lease) {
    const FencedLeaseHolder& last = holders_[lease.key];
    return last.fence == lease.fence && last.until > clock_.wall();
  }

  Clock& clock_;
  std::map<std::string, FencedLeaseHolder> holders_;  // the last of each key
};

}  // namespace sluice::coordination
