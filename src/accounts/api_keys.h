// API keys: machines that call.
//
// A key is shown once, when it is made; only its hash is kept.
#pragma once

#include "accounts/api_key_store.h"
#include "base/result.h"
#include "runtime/clock.h"

namespace sluice::accounts {

struct NewApiKey {
  Id<CallerTag> id;
  std::string secret;  // "sk_" and 43 characters
};

enum class RotateError { no_such_key, of_environment };

// Safe to share between threads.
class ApiKeys : public Callers {
 public:
  static constexpr size_t shortest_secret = 16;
  static constexpr size_t longest_secret = 512;
  // The name of the key that the environment gives, which is not for keys made otherwise.
  static constexpr std::string_view environment_name = "SLUICE_SERVICE_KEY";

  // `secrets` must be unpredictable.
  ApiKeys(ApiKeyStore& store, const Clock& clock, Random& secrets) : store_(store), clock_(clock), secrets_(secrets) {}

  // `lifetime` nothing: it works until it is revoked. The name is not `environment_name`.
  Task<NewApiKey> create(std::string name, Role role, std::optional<Duration> lifetime = std::nullopt);

  // A new secret for the same name and role. The old one works for `grace` longer, so that its users can be given the
  // new one. Without a `lifetime` the new key gets that of the old one.
  Task<Result<NewApiKey, RotateError>> rotate(Id<CallerTag> id, Duration grace, std::optional<Duration> lifetime);

  // Takes the SERVICE key that the operator put into the environment; the one before it is revoked. The caller has
  // checked its length.
  Task<Adoption> adopt(std::string secret);

  Task<bool> revoke(Id<CallerTag> id);
  Task<std::vector<ListedApiKey>> list();

  // Asks the store each time; RememberedCallers spares it.
  Task<std::optional<Caller>> identify(std::string token) override;

 private:
  NewApiKey make_secret();
  std::optional<Time> end_of(std::optional<Duration> lifetime) const;

  ApiKeyStore& store_;
  const Clock& clock_;
  Random& secrets_;
};

// The stored form of a secret.
Bytes hash_secret(std::string_view secret);

}  // namespace sluice::accounts
