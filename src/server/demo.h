// Demo data for an empty installation, added by `sluice serve --demo`.
//
// An origin `scourt` with the 39 sample layouts as static copies in DATA/demo/static, so that documents can be read
// with nothing else running. Its base_url is where `sluice-lab origin --listen 127.0.0.1:9000` would answer.
#pragma once

#include <optional>
#include <string>

#include "accounts/api_keys.h"
#include "server/settings.h"

namespace sluice::server {

// Writes the static copies unless an earlier start did, and adds the origin unless origins are configured. Throws
// std::runtime_error with one sentence if the data folder is not writable.
void add_demo_origin(Settings& settings);

// Adds the origin for commands that work on a data folder in which the demo has run; writes nothing.
void find_demo_origin(Settings& settings);

// The secret of a new SERVICE key; nothing where keys were made before.
Task<std::optional<std::string>> make_demo_key(accounts::ApiKeys& keys);

// How to try it out, in a few lines for a person.
std::string demo_hint(const Settings& settings, const std::string& url, const std::optional<std::string>& key);

}  // namespace sluice::server
