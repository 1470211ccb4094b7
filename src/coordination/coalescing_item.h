// The rules of coalescing for one item, as they run in memory. adapters/redis/coordination/coalescing_script.cpp says
// the same in Lua; the contract suite holds both to one model.
#pragma once

#include "coordination/coalescing.h"

namespace sluice::coordination {

// A value; no threads, no clock of its own.
class CoalescingItem {
 public:
  // A new version is at least `at_least`, which the issuing engine takes from its clock.
  RefreshAnswer request(const RefreshRequest& request, const CoalescingPlan& plan, Version at_least, Time now);
  bool unpublish(const RefreshAnswer& answer);
  FetchAnswer look(const FetchRequest& request, const CoalescingPlan& plan, Time now);
  FetchAnswer begin(const FetchRequest& request, const CoalescingPlan& plan, Time now);
  void finish(const std::string& owner, Version covers);
  void abandon(const std::string& owner, std::optional<Version> given_up);

  // How long to remember it from now on: while a message waits, at least as long as that may take.
  Duration keep(const CoalescingPlan& plan) const;

 private:
  void satisfy(Version version);
  // How long the running fetch has left; 0 where none runs.
  Duration running_for(const CoalescingPlan& plan, Time now) const;
  RefreshAnswer publish(RefreshOutcome outcome, WaitingMessage message);

  Version issued_ = 0;  // the highest
  Version done_ = 0;    // the highest that is satisfied
  std::optional<WaitingMessage> waiting_;
  Duration patience_{0};  // of the waiting message, from the lag of its lane at the last request
  std::string owner_;     // of the running fetch; empty where none runs
  Time until_;
};

}  // namespace sluice::coordination
