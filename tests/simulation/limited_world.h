// A limit, those who draw from it and the upstream they call, in simulated time, with everything that can go wrong.
//
// Commands and answers take their time on the way; callers' clocks are apart; an engine is wiped, restarted, replaced
// by a replica that lags behind and has another clock, or its clock steps back. Each caller keeps to the promise: a
// permit is used before `permit_life` has passed on its own clock since it asked, or not at all. What is looked at in
// the end is when permits were given and when their requests were on the wire, in true time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/random.h"
#include "coordination/limit_state.h"
#include "tests/support/window_check.h"

namespace sluice::test {

// The engine: its clock and its state.
class SimulatedEngine {
 public:
  SimulatedEngine(std::shared_ptr<const coordination::LimitPlan> plan, Random& random);

  coordination::Drawn draw(size_t priority, int64_t least, int64_t most, int64_t true_time);

  void lose_all() { kept_.clear(); }
  void restart() { ++run_; }
  // A replica takes over: its state is that of an earlier moment.
  void fail_over();
  void step_clock_back();

 private:
  int64_t clock(int64_t true_time) const { return true_time + ahead_; }

  std::shared_ptr<const coordination::LimitPlan> plan_;
  Random& random_;
  int64_t run_ = 1;
  int64_t ahead_;
  Bytes kept_;
  Bytes replica_;  // the state that has reached it so far
};

struct WorldOptions {
  coordination::LimitPlan plan;
  uint64_t seed = 1;
  int64_t microseconds = 10'000'000;
  bool faults = true;
  Duration slowest = 60ms;    // a command or an answer on its way, now and then
  bool own_priority = false;  // each caller keeps to one, instead of any at any time
};

class LimitedWorld {
 public:
  explicit LimitedWorld(WorldOptions options);
  // Runs to the end.
  void run();

  // Of each window of the plan, in true time.
  const std::vector<std::vector<Happened>>& given() const { return given_; }
  const std::vector<std::vector<Happened>>& on_the_wire() const { return on_the_wire_; }
  int64_t used() const { return used_; }
  int faults() const { return faults_; }

 private:
  using Event = std::function<void()>;

  void at(int64_t when, Event event) { events_.emplace(when, std::move(event)); }
  int64_t between(int64_t least, int64_t most);
  int64_t travel();
  void ask(int caller);
  void decide(int caller, size_t priority, int64_t least, int64_t most, int64_t sent);
  void use(int caller, size_t priority, const coordination::Drawn& drawn, int64_t sent);
  void break_something();

  WorldOptions options_;
  std::shared_ptr<const coordination::LimitPlan> plan_;
  SeededRandom random_;
  SimulatedEngine engine_;
  int64_t now_ = 0;
  std::multimap<int64_t, Event> events_;
  std::vector<std::vector<Happened>> given_;
  std::vector<std::vector<Happened>> on_the_wire_;
  int64_t used_ = 0;
  int faults_ = 0;
};

}  // namespace sluice::test
