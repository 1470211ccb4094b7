// Where API keys are kept.
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
};

struct ListedApiKey {
  Id<CallerTag> id;
  std::string name;
  Role role = Role::user;
  Time created_at;
  std::optional<Time> revoked_at;
};

// Every implementation passes tests/contract/api_key_store_contract.h.
class ApiKeyStore {
 public:
  virtual ~ApiKeyStore() = default;

  // False where that secret is known already (also to a revoked key); then nothing changes.
  virtual Task<bool> add(ApiKey key) = 0;

  // The key that was not revoked and has this hash.
  virtual Task<std::optional<Caller>> find(Bytes hash) = 0;

  // False where there is no such key; revoking again is harmless.
  virtual Task<bool> revoke(Id<CallerTag> id) = 0;

  // Oldest first.
  virtual Task<std::vector<ListedApiKey>> list() = 0;
};

}  // namespace sluice::accounts
