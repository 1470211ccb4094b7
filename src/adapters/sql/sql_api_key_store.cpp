#include "adapters/sql/sql_api_key_store.h"

#include "base/check.h"

namespace sluice::sql {
namespace {

using accounts::CallerTag;
using accounts::ListedApiKey;
using accounts::Role;

constexpr Statement insert_key =
    "INSERT INTO api_keys (id, name, role, key_hash, created_at) VALUES ($1, $2, $3, $4, now()) "
    "ON CONFLICT (key_hash) DO NOTHING";
constexpr Statement find_key = "SELECT id, name, role FROM api_keys WHERE key_hash = $1 AND revoked_at IS NULL";
constexpr Statement revoke_key = "UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1";
constexpr Statement list_keys = "SELECT id, name, role, created_at, revoked_at FROM api_keys ORDER BY created_at, id";

Role role_of(const std::string& text) {
  const auto role = accounts::parse_role(text);
  check_that(role.has_value(), "the database holds the role {}", text);  // its constraint names the three
  return *role;
}

}  // namespace

Task<bool> SqlApiKeyStore::add(accounts::ApiKey key) {
  Params params(key.id, key.name, name(key.role), key.hash);
  const Rows inserted = co_await database_.write(insert_key, std::move(params));
  co_return inserted.affected == 1;
}

Task<std::optional<accounts::Caller>> SqlApiKeyStore::find(Bytes hash) {
  Params params(std::move(hash));
  const Rows found = co_await database_.read(find_key, std::move(params));
  if (found.empty()) co_return std::nullopt;
  const Row& row = found.one();
  co_return accounts::Caller{row.id<CallerTag>(0), role_of(row.text(2)), row.text(1)};
}

Task<bool> SqlApiKeyStore::revoke(Id<CallerTag> id) {
  Params params(id);
  const Rows updated = co_await database_.write(revoke_key, std::move(params));
  co_return updated.affected == 1;
}

Task<std::vector<ListedApiKey>> SqlApiKeyStore::list() {
  const Rows found = co_await database_.read(list_keys);
  std::vector<ListedApiKey> keys;
  for (const Row& row : found) {
    keys.push_back({row.id<CallerTag>(0), row.text(1), role_of(row.text(2)), row.time(3), row.optional_time(4)});
  }
  co_return keys;
}

}  // namespace sluice::sql
