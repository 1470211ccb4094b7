// API keys: machines that call.
//
// A key is shown once, when it is made; only its hash is kept.
#pragma once

#include "accounts/api_key_store.h"
#include "runtime/clock.h"

namespace sluice::accounts {

struct NewApiKey {
  Id<CallerTag> id;
  std::string secret;  // "sk_" and 43 characters
};

// Safe to share between threads.
class ApiKeys : public Callers {
 public:
  static constexpr size_t shortest_secret = 16;
  static constexpr size_t longest_secret = 512;

  // `secrets` must be unpredictable.
  ApiKeys(ApiKeyStore& store, const Clock& clock, Random& secrets) : store_(store), clock_(clock), secrets_(secrets) {}

  Task<NewApiKey> create(std::string name, Role role);

  // Takes a secret the operator chose. False where it is known already. The caller has checked that it is at least
  // `shortest_secret` long.
  Task<bool> adopt(std::string name, Role role, std::string secret);

  Task<bool> revoke(Id<CallerTag> id);
  Task<std::vector<ListedApiKey>> list();

  // Asks the store each time; RememberedCallers spares it.
  Task<std::optional<Caller>> identify(std::string token) override;

 private:
  ApiKeyStore& store_;
  const Clock& clock_;
  Random& secrets_;
};

// What is kept of a secret.
Bytes hash_secret(std::string_view secret);

}  // namespace sluice::accounts
