// Stores API keys.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "accounts/caller.h"
#include "base/encoding.h"

namespace sluice::accounts {

struct ApiKey {
  Id<CallerTag> id;
  std::string name;
  Role role = Role::user;
  Bytes hash;  // SHA-256 of the secret; the secret itself is kept nowhere
  std::optional<Time> expires_at{};
};

struct FoundApiKey {
  Id<CallerTag> key;
  Caller caller;          // the same for all keys that were made by rotating one
  bool note_use = false;  // its last use was noted a minute ago or earlier
};

struct ListedApiKey {
  Id<CallerTag> id;
  std::string name;
  Role role = Role::user;
  Time created_at;
  std::optional<Time> revoked_at;
  std::optional<Time> expires_at;
  std::optional<Time> last_used_at;  // to the minute
};

// The replacement of a key.
struct KeyRotation {
  Id<CallerTag> old;
  Id<CallerTag> fresh;
  Bytes hash;
  std::optional<Time> expires_at;  // nothing: as long after now as the old key was made for
  Time old_ends;
};

enum class Adoption {
  added,    // new; keys of the same name were revoked
  known,    // it works already; other keys of the same name were revoked
  retired,  // it was revoked before; nothing changed
};

// Every implementation passes tests/contract/api_key_store_contract.cpp.
class ApiKeyStore {
 public:
  virtual ~ApiKeyStore() = default;

  // False where that secret is known already (also to a revoked key); then nothing changes.
  virtual Task<bool> add(ApiKey key) = 0;

  // Makes `key` the only one of its name. It belongs to the caller whose key of that name and role it retires.
  virtual Task<Adoption> adopt(ApiKey key) = 0;

  // Adds a key of the old one's caller, with its name and role; the old one ends at `old_ends`, or sooner if it was to.
  // False where the old one does not work any more; then nothing changes.
  virtual Task<bool> rotate(KeyRotation rotation) = 0;

  // The key of this hash that was not revoked and has not expired.
  virtual Task<std::optional<FoundApiKey>> find(Bytes hash) = 0;

  // Now, unless it was noted within the last minute.
  virtual Task<> note_use(Id<CallerTag> id) = 0;

  // False where there is no such key; revoking again is harmless.
  virtual Task<bool> revoke(Id<CallerTag> id) = 0;

  // Oldest first.
  virtual Task<std::vector<ListedApiKey>> list() = 0;
};

}  // namespace sluice::accounts
