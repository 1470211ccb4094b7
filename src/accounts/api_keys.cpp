#include "accounts/api_keys.h"

#include <sodium.h>

#include "base/check.h"

namespace sluice::accounts {

Bytes hash_secret(std::string_view secret) {
  // A plain hash, so that looking a key up is one index access. Ours are 32 random bytes, with nothing to guess; one
  // that an operator chose is as hard to guess as they made it.
  Bytes hash(crypto_hash_sha256_BYTES);
  const auto bytes = as_bytes(secret);
  crypto_hash_sha256(hash.data(), bytes.data(), bytes.size());
  return hash;
}

Task<NewApiKey> ApiKeys::create(std::string name, Role role) {
  std::array<uint8_t, 32> random{};
  secrets_.fill(random);
  NewApiKey made{Id<CallerTag>::make(clock_.wall(), secrets_), "sk_" + to_base64url(random)};
  ApiKey key{made.id, std::move(name), role, hash_secret(made.secret)};
  const bool added = co_await store_.add(std::move(key));
  check(added, "two random keys are the same");
  co_return made;
}

Task<bool> ApiKeys::adopt(std::string name, Role role, std::string secret) {
  check(secret.size() >= shortest_secret, "an adopted secret is too short");
  ApiKey key{Id<CallerTag>::make(clock_.wall(), secrets_), std::move(name), role, hash_secret(secret)};
  co_return co_await store_.add(std::move(key));
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
  co_return co_await store_.find(std::move(hash));
}

}  // namespace sluice::accounts
