// The fixture of version_floors_contract.cpp, for the engines that run it.
#pragma once

#include "adapters/sql/coordination/sql_version_floors.h"
#include "tests/contract/database_fixture.h"

namespace sluice::test {

class VersionFloorsContract : public DatabaseFixture {
 protected:
  using RunFloor = coordination::RunFloor;
  using Version = coordination::Version;

  void SetUp() override {
    DatabaseFixture::SetUp();
    floors_.emplace(database());
  }

  static constexpr Version skew = coordination::version_skew.count();
  // The database's clock when the run was first asked for.
  static Version asked_at(const RunFloor& run) { return run.began + skew; }
  // The highest version that `run` can have issued when the database's clock shows `now`, with the fastest clock.
  static Version highest(const RunFloor& run, Version now) { return coordination::next_version(0, now + skew, run); }
  // The lowest it can issue, with the slowest clock.
  static Version lowest(const RunFloor& run) { return coordination::next_version(0, asked_at(run) - skew, run); }

  std::optional<sql::SqlVersionFloors> floors_;
};

}  // namespace sluice::test
