// Checks that a plan is possible, with the arithmetic behind it.
#include <algorithm>
#include <set>

#include "coordination/limit_plan.h"
#include "runtime/config_section.h"

namespace sluice::coordination {
namespace {

using Users = std::set<std::string>;
using Names = std::vector<std::string> LimitPriority::*;

// Which priorities draw from `name`.
Users users_of(const LimitPlan& plan, Names names, const std::string& name) {
  Users users;
  for (const LimitPriority& one : plan.priority) {
    if (std::ranges::find(one.*names, name) != (one.*names).end()) users.insert(one.name);
  }
  return users;
}

bool some_of(const Users& inner, const Users& outer) {
  return inner.size() < outer.size() && std::ranges::includes(outer, inner);
}

// Names become parts of keys; a brace would move one to another slot of a Redis Cluster.
bool is_plain(const std::string& name) {
  return std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; });
}

template <class Named>
void check_names(const std::vector<Named>& all, const std::string& key, config::Problems& problems) {
  std::set<std::string> seen;
  for (const Named& one : all) {
    if (!is_plain(one.name)) problems.add(key, "'" + one.name + "' may contain only letters, digits, '.', '_' and '-'");
    if (!seen.insert(one.name).second) problems.add(key, "two are named " + one.name + "; rename one");
  }
}

template <class Named>
void check_use(const LimitPlan& plan, const std::vector<Named>& all, Names names, const std::string& key,
               config::Problems& problems) {
  for (const Named& one : all) {
    if (users_of(plan, names, one.name).empty()) {
      problems.add(key, one.name + " is not used by any priority; name it in one or remove it");
    }
  }
  for (const LimitPriority& user : plan.priority) {
    std::set<std::string> seen;
    for (const std::string& name : user.*names) {
      if (std::ranges::find(all, name, &Named::name) == all.end()) {
        problems.add("priority", fmt::format("{} uses the {} {}, which does not exist", user.name, key, name));
      }
      if (!seen.insert(name).second) problems.add("priority", user.name + " names " + name + " twice");
    }
  }
}

void check_windows(const LimitPlan& plan, config::Problems& problems) {
  for (const LimitWindow& one : plan.window) {
    if (plan.permit_life >= one.per) {
      problems.add("permit_life",
                   fmt::format("{} is not shorter than the {} of {}, which would allow {} in {} instead; shorten it",
                               format_duration(plan.permit_life), format_duration(one.per), one.name, one.most,
                               format_duration(plan.span(one))));
    }
  }
}

// A window of some priorities is there to leave something of a window of more priorities to the others.
void check_share(const LimitPlan& plan, const LimitWindow& part, const LimitWindow& whole, config::Problems& problems) {
  if (!some_of(users_of(plan, &LimitPriority::windows, part.name),
               users_of(plan, &LimitPriority::windows, whole.name))) {
    return;
  }
  const int64_t times = (plan.span(part).count() + plan.span(whole).count() - 1) / plan.span(whole).count();
  if (part.most < whole.most * times) return;
  problems.add(
      "window",
      fmt::format("{} has no effect: its {} in {} are not less than the {} x {} = {} that {} allows in that time, so "
                  "nothing is left for the others; lower {}",
                  part.name, part.most, format_duration(part.per), times, whole.most, times * whole.most, whole.name,
                  part.name));
}

void check_day(const LimitPlan& plan, const LimitDay& day, config::Problems& problems) {
  if (day.reserve > day.most) {
    problems.add("day", fmt::format("{} reserves {} of {} permits: {} too many", day.name, day.reserve, day.most,
                                    day.reserve - day.most));
    return;
  }
  bool may_use = false;
  for (const LimitPriority& one : plan.priority) {
    if (std::ranges::find(one.days, day.name) == one.days.end()) continue;
    may_use = may_use || one.may_use_reserve;
    if (!one.may_use_reserve && day.reserve == day.most) {
      problems.add("day", fmt::format("{} reserves all {} permits: {} - {} = 0 are left for {}", day.name, day.most,
                                      day.most, day.reserve, one.name));
    }
  }
  if (day.reserve > 0 && !may_use) {
    problems.add("day", fmt::format("{} reserves {} permits that no priority may use", day.name, day.reserve));
  }
}

void check_days(const LimitPlan& plan, config::Problems& problems) {
  for (const LimitDay& day : plan.day) {
    check_day(plan, day, problems);
    for (const LimitDay& whole : plan.day) {
      const bool part =
          some_of(users_of(plan, &LimitPriority::days, day.name), users_of(plan, &LimitPriority::days, whole.name));
      if (!part || day.most <= whole.most) continue;
      problems.add("day", fmt::format("{} does not fit into {}: {} - {} = {} too many", day.name, whole.name, day.most,
                                      whole.most, day.most - whole.most));
    }
  }
}

}  // namespace

void LimitPlan::validate(config::Problems& problems) const {
  check_names(window, "window", problems);
  check_names(day, "day", problems);
  check_names(priority, "priority", problems);
  check_use(*this, window, &LimitPriority::windows, "window", problems);
  check_use(*this, day, &LimitPriority::days, "day", problems);
  if (priority.empty()) problems.add("priority", "must have at least one entry; without it no caller gets a permit");
  for (const LimitPriority& one : priority) {
    if (one.windows.empty()) problems.add("priority", one.name + " has no window and would be unlimited; name one");
  }
  check_windows(*this, problems);
  for (const LimitWindow& part : window) {
    for (const LimitWindow& whole : window) check_share(*this, part, whole, problems);
  }
  check_days(*this, problems);
}

}  // namespace sluice::coordination
