// Floors of versions for tests; the real ones are in the database.
#pragma once

#include <map>
#include <mutex>

#include "coordination/version_floors.h"
#include "runtime/clock.h"

namespace sluice::test {

// Safe to share between threads.
class PretendFloors : public coordination::VersionFloors {
 public:
  explicit PretendFloors(Clock& clock) : clock_(clock) {}

  Task<coordination::RunFloor> floor_of(std::string run) override { co_return floor(run); }

  coordination::RunFloor floor(const std::string& run) {
    const std::scoped_lock lock(mutex_);
    ++asked_;
    const auto found = floors_.find(run);
    if (found != floors_.end()) return found->second;
    constexpr coordination::Version skew = coordination::version_skew.count();
    const coordination::Version now = coordination::clock_version(clock_.wall());
    coordination::Version highest = now;
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
  std::map<std::string, coordination::RunFloor> floors_;
};

}  // namespace sluice::test
