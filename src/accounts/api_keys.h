// API keys: machines that call.
//
// A key is shown once, when it is made; only its hash is kept. Known keys are remembered for `remember_for`, so that a
// request does not ask the database, and a revoked key works that much longer on other instances.
#pragma once

#include <chrono>
#include <mutex>
#include <unordered_map>

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
  static constexpr Duration remember_for = 5s;
  static constexpr size_t remember_most = 10'000;
  static constexpr size_t shortest_secret = 16;

  // `secrets` must be unpredictable.
  ApiKeys(ApiKeyStore& store, const Clock& clock, Random& secrets) : store_(store), clock_(clock), secrets_(secrets) {}

  Task<NewApiKey> create(std::string name, Role role);

  // Takes a secret the operator chose. False where it is known already. The caller has checked that it is at least
  // `shortest_secret` long.
  Task<bool> adopt(std::string name, Role role, std::string secret);

  Task<bool> revoke(Id<CallerTag> id);
  Task<std::vector<ListedApiKey>> list();

  Task<std::optional<Caller>> identify(std::string token) override;

 private:
  struct Known {
    Caller caller;
    Instant until;
  };
  std::optional<Caller> remembered(const std::string& hash);
  void remember(const std::string& hash, const Caller& caller);

  ApiKeyStore& store_;
  const Clock& clock_;
  Random& secrets_;
  std::mutex mutex_;
  std::unordered_map<std::string, Known> known_;
};

// What is kept of a secret.
Bytes hash_secret(std::string_view secret);

}  // namespace sluice::accounts
