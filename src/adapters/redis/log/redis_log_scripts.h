// The operations of the log in Redis, each an atomic step. Keys are those of redis_log_keys.h.
#pragma once

#include "adapters/redis/client/script.h"

namespace sluice::redis::log_scripts {

// Topics
extern const Script declare;

// One partition's messages
extern const Script publish;
extern const Script read;
extern const Script trim;
extern const Script remember;
extern const Script look;

// A group's members, and their leases
extern const Script join;
extern const Script leave;
extern const Script hold;
extern const Script commit;
extern const Script let_go;

}  // namespace sluice::redis::log_scripts
