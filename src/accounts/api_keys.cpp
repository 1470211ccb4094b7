#include "accounts/api_keys.h"

#include <algorithm>

#include <sodium.h>

#include "base/check.h"
#include "runtime/errors.h"
#include "runtime/log.h"

namespace sluice::accounts {

Bytes hash_secret(std::string_view secret) {
  // A plain hash, so that looking a key up is one index access. Ours are 32 random bytes, with nothing to guess; one
  // that an operator chose is as hard to guess as they made it.
  Bytes hash(crypto_hash_sha256_BYTES);
  const auto bytes = as_bytes(secret);
  crypto_hash_sha256(hash.data(), bytes.data(), bytes.size());
  return hash;
}

NewApiKey ApiKeys::make_secret() {
  std::array<uint8_t, 32> random{};
  secrets_.fill(random);
  return {Id<CallerTag>::make(clock_.wall(), secrets_), "sk_" + to_base64url(random)};
}

std::optional<Time> ApiKeys::end_of(std::optional<Duration> lifetime) const {
  if (!lifetime) return std::nullopt;
  return clock_.wall() + *lifetime;
}

Task<NewApiKey> ApiKeys::create(std::string name, Role role, std::optional<Duration> lifetime) {
  check(name != environment_name, "the name is reserved for the key of the environment");
  NewApiKey made = make_secret();
  ApiKey key{made.id, std::move(name), role, hash_secret(made.secret), end_of(lifetime)};
  const bool added = co_await store_.add(std::move(key));
  check(added, "two random keys are equal");
  co_return made;
}

Task<Result<NewApiKey, RotateError>> ApiKeys::rotate(Id<CallerTag> id, Duration grace,
                                                     std::optional<Duration> lifetime) {
  const std::vector<ListedApiKey> keys = co_await store_.list();
  const auto old = std::ranges::find(keys, id, &ListedApiKey::id);
  if (old == keys.end()) co_return RotateError::no_such_key;
  if (old->name == environment_name) co_return RotateError::of_environment;
  NewApiKey made = make_secret();
  KeyRotation rotation{id, made.id, hash_secret(made.secret), end_of(lifetime), clock_.wall() + grace};
  const bool rotated = co_await store_.rotate(std::move(rotation));
  if (!rotated) co_return RotateError::no_such_key;
  co_return made;
}

Task<Adoption> ApiKeys::adopt(std::string secret) {
  check(secret.size() >= shortest_secret && secret.size() <= longest_secret,
        "the length of an adopted secret is out of range");
  const Id<CallerTag> id = Id<CallerTag>::make(clock_.wall(), secrets_);
  ApiKey key{id, std::string(environment_name), Role::service, hash_secret(secret)};
  return store_.adopt(std::move(key));
}

Task<bool> ApiKeys::revoke(Id<CallerTag> id) {
  return store_.revoke(id);
}

Task<std::vector<ListedApiKey>> ApiKeys::list() {
  return store_.list();
}

Task<std::optional<Caller>> ApiKeys::identify(std::string token) {
  if (token.size() < shortest_secret || token.size() > longest_secret) co_return std::nullopt;
  Bytes hash = hash_secret(token);
  std::optional<FoundApiKey> found = co_await store_.find(std::move(hash));
  if (!found) co_return std::nullopt;
  if (found->note_use) {
    try {
      co_await store_.note_use(found->key);
    } catch (const EngineUnavailable& error) {
      // Good to know, but no reason to turn a known caller away.
      log::warning("recording the use of a key failed", {{"key", found->caller.id.text()}, {"error", error.what()}});
    }
  }
  co_return std::move(found->caller);
}

}  // namespace sluice::accounts
