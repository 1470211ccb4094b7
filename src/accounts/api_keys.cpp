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
  const bool known = co_await store_.revoke(id);
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [id](const auto& entry) { return entry.second.caller.id == id; });
  co_return known;
}

Task<std::vector<ListedApiKey>> ApiKeys::list() {
  return store_.list();
}

Task<std::optional<Caller>> ApiKeys::identify(std::string token) {
  if (token.size() < shortest_secret || token.size() > 512) co_return std::nullopt;
  Bytes hash = hash_secret(token);
  const std::string key(as_text(hash));
  if (auto caller = remembered(key)) co_return caller;
  std::optional<Caller> caller = co_await store_.find(std::move(hash));
  if (caller) remember(key, *caller);
  co_return caller;
}

std::optional<Caller> ApiKeys::remembered(const std::string& hash) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(hash);
  if (found == known_.end()) return std::nullopt;
  if (found->second.until > clock_.now()) return found->second.caller;
  known_.erase(found);
  return std::nullopt;
}

void ApiKeys::remember(const std::string& hash, const Caller& caller) {
  const std::lock_guard lock(mutex_);
  // Unknown tokens are never remembered, so this only fills with real keys; starting over is simpler than choosing one.
  if (known_.size() >= remember_most) known_.clear();
  known_.insert_or_assign(hash, Known{caller, clock_.now() + remember_for});
}

}  // namespace sluice::accounts
