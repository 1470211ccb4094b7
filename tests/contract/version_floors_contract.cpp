// Contract of every coordination::VersionFloors, tested on a real engine.
#include "tests/contract/version_floors_suite.h"

namespace sluice::test {

TEST_P(VersionFloorsContract, a_run_has_one_floor_for_ever) {
  const std::string run_id = unique("run");
  const RunFloor first = run(port().floor_of(run_id));
  run(port().floor_of(unique("run")));
  EXPECT_EQ(run(port().floor_of(run_id)), first);
}

TEST_P(VersionFloorsContract, a_run_begins_a_minute_ahead_of_the_clock) {
  const RunFloor run_floor = run(port().floor_of(unique("run")));
  EXPECT_GE(run_floor.floor, asked_at(run_floor) + skew);
}

TEST_P(VersionFloorsContract, a_run_issues_nothing_that_an_earlier_one_can_have_issued) {
  std::vector<RunFloor> runs;
  for (int i = 0; i < 10; ++i) {
    const RunFloor next = run(port().floor_of(unique("run")));
    for (const RunFloor& earlier : runs) EXPECT_GE(lowest(next), highest(earlier, asked_at(next)));
    runs.push_back(next);
  }
}

TEST_P(VersionFloorsContract, runs_that_come_at_once_follow_each_other_and_all_callers_agree) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(unique("run"));
  std::vector<Task<RunFloor>> asking;
  for (int i = 0; i < 40; ++i) asking.push_back(port().floor_of(ids[i % ids.size()]));
  const std::vector<RunFloor> answers = values_of(std::move(asking));
  for (size_t i = ids.size(); i < answers.size(); ++i) EXPECT_EQ(answers[i], answers[i % ids.size()]);

  std::vector<RunFloor> runs(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(ids.size()));
  std::ranges::sort(runs, {}, &RunFloor::floor);
  for (size_t i = 1; i < runs.size(); ++i) {
    EXPECT_GE(lowest(runs[i]), highest(runs[i - 1], asked_at(runs[i]))) << i;
  }
}

}  // namespace sluice::test
