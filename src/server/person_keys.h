// Where the keys that seal person data come from.
#pragma once

#include "accounts/person_cipher.h"
#include "server/settings.h"

namespace sluice::server {

// Those of the configuration, or the data folder's own, made at the first start and readable by their owner only.
// Throws std::runtime_error with one sentence that says what to fix.
accounts::PersonKeys load_person_keys(const Settings& settings, Random& secrets);

}  // namespace sluice::server
