// The decision of coordination/limit_state.h, made by Redis.
#pragma once

#include "adapters/redis/client/script.h"

namespace sluice::redis {

// Gives permits of all windows (and credit) or of none.
extern const Script draw_permits;
// Adds to a priority's credit.
extern const Script deposit_credit;
// The permits of each window available now; changes nothing.
extern const Script count_remaining;

}  // namespace sluice::redis
