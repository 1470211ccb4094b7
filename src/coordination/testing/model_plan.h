// The limit that tests speak of: an upstream that takes 450 a second, of which LOW may have 350.
#pragma once

#include "coordination/limit_plan.h"

namespace sluice::coordination {

inline constexpr size_t high = 0;
inline constexpr size_t low = 1;

inline LimitPlan model_plan() {
  return {.name = "upstream",
          .permit_life = 20ms,
          .window = {{"global", 450, 1s}, {"low", 350, 1s}},
          .day = {},
          .priority = {{.name = "HIGH", .windows = {"global"}}, {.name = "LOW", .windows = {"global", "low"}}}};
}

}  // namespace sluice::coordination
