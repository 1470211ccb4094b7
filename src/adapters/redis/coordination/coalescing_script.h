// The rules of coordination/coalescing_item.h, for Redis: one script, one hash per item.
#pragma once

#include "adapters/redis/client/script.h"

namespace sluice::redis {

extern const Script coalescing_script;

}  // namespace sluice::redis
