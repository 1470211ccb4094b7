// The days of a limit in virtual time, in a database that can be made slow or fail.
//
// For testing the rules above it. Passes the contract suite of DayBudgets as real ones do
// (tests/contract/pretend_coordination_test.cpp). Serves one thread.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "coordination/day_accounts.h"
#include "runtime/clock.h"
#include "runtime/errors.h"

namespace sluice::coordination {

// The stored state, by limit and day.
using PretendDayRows = std::map<std::pair<std::string, std::string>, DaySpent>;

// Instances of a limit share `rows`, which outlives them.
class PretendDays : public DayBudgets {
 public:
  PretendDays(LimitPlan plan, PretendDayRows& rows, Clock& clock)
      : plan_(std::move(plan)), rows_(rows), clock_(clock) {}

  Task<Result<DayChunk, Duration>> take(size_t priority, int64_t least, int64_t most) override {
    ++asked;
    if (answers_after > 0us) co_await clock_.sleep_for(answers_after);
    if (down) throw EngineUnavailable("pretended", "down");
    const std::vector<size_t> days = plan_.days_of(priority);
    std::vector<std::optional<DaySpent>> stored;
    for (const size_t at : days) stored.push_back(find(at));
    DayAccounts accounts(plan_, priority, stored, clock_.wall());
    const Result<DayChunk, Duration> chunk = accounts.take(least, most);
    for (size_t i = 0; i < days.size(); ++i) rows_[key(days[i])] = accounts.spent()[i];
    if (chunk) taken += chunk->permits;
    co_return chunk;
  }
  Task<std::vector<int64_t>> left() override {
    std::vector<int64_t> all;
    for (size_t at = 0; at < plan_.day.size(); ++at) {
      all.push_back(DayPace(plan_.day[at], find(at), clock_.wall()).left(true));
    }
    co_return all;
  }

  // As if `permits` of what counts as spent of each day by now had not been.
  void save(int64_t permits) {
    for (size_t at = 0; at < plan_.day.size(); ++at) {
      DaySpent spent = DayPace(plan_.day[at], find(at), clock_.wall()).spent();
      spent.permits -= permits;
      rows_[key(at)] = spent;
    }
  }

  int asked = 0;
  int64_t taken = 0;
  bool down = false;
  Duration answers_after{0};

 private:
  std::pair<std::string, std::string> key(size_t at) const { return {plan_.name, plan_.day[at].name}; }
  std::optional<DaySpent> find(size_t at) const {
    const auto found = rows_.find(key(at));
    return found == rows_.end() ? std::nullopt : std::optional(found->second);
  }

  LimitPlan plan_;
  PretendDayRows& rows_;
  Clock& clock_;
};

}  // namespace sluice::coordination
