// The fixture of version_floors_contract.cpp, for the engines that run it.
#pragma once

#include "coordination/version_floors.h"
#include "tests/contract/port_fixture.h"

namespace sluice::test {

class VersionFloorsContract : public PortFixture<coordination::VersionFloors> {
 protected:
  using RunFloor = coordination::RunFloor;
  using Version = coordination::Version;

  static constexpr Version skew = coordination::version_skew.count();
  // The database's clock when the run was first asked for.
  static Version asked_at(const RunFloor& run) { return run.began + skew; }
  // The highest version that `run` can have issued when the database's clock shows `now`, with the fastest clock.
  static Version highest(const RunFloor& run, Version now) { return coordination::next_version(0, now + skew, run); }
  // The lowest it can issue, with the slowest clock.
  static Version lowest(const RunFloor& run) { return coordination::next_version(0, asked_at(run) - skew, run); }
};

}  // namespace sluice::test
