// One item and everybody around it: callers who ask, a log that loses messages and brings them twice, workers that fail
// and crash, an engine that forgets, fails over to an older state, and whose clock is wrong.
#pragma once

#include <deque>
#include <map>
#include <random>
#include <vector>

#include "coordination/coalescing_item.h"
#include "coordination/testing/pretend_floors.h"
#include "runtime/virtual_clock.h"

namespace sluice::test {

using coordination::Version;

class CoalescingWorld {
 public:
  explicit CoalescingWorld(uint64_t seed);

  // A tenth of a second in which faults may happen and a caller may ask.
  void step(bool stormy);

  // How the item has fared.
  Time now() const { return clock_.wall(); }
  Time last_refreshed() const { return refreshed_; }  // when the last fetch began that was stored
  int published() const { return published_; }
  int stored() const { return stored_; }
  // A violated promise; empty while there is none.
  const std::string& wrong() const { return wrong_; }

 private:
  struct Message {
    size_t lane = 0;
    Version version = 0;
  };
  struct Worker {
    std::string owner;
    Message message;
    Version covers = 0;
    int began = 0;  // step
    Time began_at;
    Time ends;
    bool crashes = false;
  };
  struct Fetch {
    Version covers;
    int began;
  };

  bool happens(double probability) { return std::bernoulli_distribution(probability)(chance_); }
  size_t below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(chance_); }
  Time engine_time() const { return clock_.wall() + skew_; }
  Version known_row() { return happens(0.5) ? row_ : 0; }

  void disturb();
  void take_over(bool empty);
  void ask(bool stormy);
  void publish(const coordination::RefreshAnswer& answer, bool stormy);
  void work(bool stormy);
  void take_message(bool stormy);
  void end_fetch(const Worker& worker, bool stormy);
  void note_obsolete(Version version);

  std::mt19937_64 chance_;
  VirtualClock clock_;
  coordination::PretendFloors floors_{clock_};
  const coordination::CoalescingPlan plan_{.lanes = {{"urgent", 30s}, {"usual", 60s}}};

  coordination::CoalescingItem item_;
  coordination::CoalescingItem replica_;  // the state after a failover
  coordination::RunFloor run_;
  int runs_ = 0;
  Duration skew_{0};

  std::deque<Message> log_;
  std::vector<Worker> workers_;
  int steps_ = 0;
  int owners_ = 0;
  Version row_ = 0;
  Version highest_ = 0;            // ever issued
  std::map<Version, int> issued_;  // at which step
  std::vector<Fetch> fetches_;     // that were stored
  Time refreshed_;
  int published_ = 0;
  int stored_ = 0;
  std::string wrong_;
};

}  // namespace sluice::test
