// Where the keys that seal person data come from.
#pragma once

#include "accounts/person_cipher.h"
#include "server/settings.h"

namespace sluice::server {

// The configured keys, or the data folder's own, created at the first start and readable by their owner only. Throws
// std::runtime_error with one sentence that names the fix.
accounts::PersonKeys load_person_keys(const Settings& settings, Random& secrets);

}  // namespace sluice::server
