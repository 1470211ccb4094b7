// Floors of versions in memory, for tests; the real ones are in the database.
//
// Passes the contract suite of VersionFloors (tests/contract/pretend_ports_test.cpp).
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "coordination/version_floors.h"
#include "runtime/clock.h"

namespace sluice::coordination {

// Safe to share between threads.
class PretendFloors : public VersionFloors {
 public:
  explicit PretendFloors(Clock& clock) : clock_(clock) {}

  Task<RunFloor> floor_of(std::string run) override { co_return floor(run); }

  RunFloor floor(const std::string& run) {
    const std::scoped_lock lock(mutex_);
    ++asked_;
    const auto found = floors_.find(run);
    if (found != floors_.end()) return found->second;
    constexpr Version skew = version_skew.count();
    const Version now = clock_version(clock_.wall());
    Version highest = now;
    for (const auto& [earlier, floor] : floors_) highest = std::max(highest, floor.at(now - skew));
    return floors_[run] = {.floor = highest + skew, .began = now - skew};
  }
  // The number of requests.
  int asked() const {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }

 private:
  Clock& clock_;
  mutable std::mutex mutex_;
  int asked_ = 0;
  std::map<std::string, RunFloor> floors_;
};

}  // namespace sluice::coordination
