// The plan that limit_spender_main.cpp draws from and limit_kill_test.cpp checks.
#pragma once

#include "coordination/limit_plan.h"

namespace sluice::test {

// A day of which all may be taken at any time, and a window that is always full.
inline coordination::LimitPlan spender_plan() {
  return {.name = "spender",
          .window = {{"window", 20, 100ms}},
          .day = {{.name = "day", .most = 1'000'000'000'000, .reserve = 1'000'000'000'000}},
          .priority = {{.name = "ALL", .windows = {"window"}, .days = {"day"}, .may_use_reserve = true}}};
}

}  // namespace sluice::test
