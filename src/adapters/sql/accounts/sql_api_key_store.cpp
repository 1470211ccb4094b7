#include "adapters/sql/accounts/sql_api_key_store.h"

#include "adapters/sql/driver/sql_text.h"
#include "base/check.h"

namespace sluice::sql {
namespace {

using accounts::Adoption;
using accounts::ApiKey;
using accounts::CallerTag;
using accounts::FoundApiKey;
using accounts::KeyRotation;
using accounts::ListedApiKey;
using accounts::Role;

constexpr Statement insert_key = R"(
    INSERT INTO api_keys (id, owner_id, name, role, key_hash, created_at, expires_at)
    VALUES ($1, $1, $2, $3, $4, now(), $5)
    ON CONFLICT (key_hash) DO NOTHING)"_sql;
constexpr Statement insert_adopted = R"(
    INSERT INTO api_keys (id, owner_id, name, role, key_hash, created_at, expires_at)
    VALUES ($1, coalesce((SELECT owner_id FROM api_keys WHERE name = $2 AND role = $3 AND revoked_at IS NULL LIMIT 1), $1),
      $2, $3, $4, now(), $5)
    ON CONFLICT (key_hash) DO NOTHING)"_sql;

constexpr Statement find_key = R"(
    SELECT id, owner_id, name, role, last_used_at IS NULL OR last_used_at < now() - @minute
    FROM api_keys
    WHERE key_hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()))"_sql;

constexpr Statement note_key_use = R"(
    UPDATE api_keys SET last_used_at = now()
    WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - @minute))"_sql;

constexpr Statement find_revoked_secret = "SELECT 1 FROM api_keys WHERE key_hash = $1 AND revoked_at IS NOT NULL";
constexpr Statement revoke_others_of_name = R"(
    UPDATE api_keys SET revoked_at = now()
    WHERE name = $1 AND key_hash <> $2 AND revoked_at IS NULL)"_sql;

constexpr Statement insert_rotated = R"(
    INSERT INTO api_keys (id, owner_id, name, role, key_hash, created_at, expires_at)
    SELECT $2, owner_id, name, role, $3, now(), coalesce($4, now() + (expires_at - created_at))
    FROM api_keys
    WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()))"_sql;
constexpr Statement end_rotated =
    "UPDATE api_keys SET expires_at = $2 WHERE id = $1 AND (expires_at IS NULL OR expires_at > $2)";

constexpr Statement revoke_key = "UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1";
constexpr SqlPart listed_columns{"listed_columns", "id, name, role, created_at, revoked_at, expires_at, last_used_at"};
constexpr Statement list_keys =
    sql_with<"SELECT @listed_columns FROM api_keys ORDER BY created_at, id", listed_columns>;

Role role_of(const std::string& text) {
  const auto role = accounts::parse_role(text);
  check_that(role.has_value(), "the database has the unknown role {}", text);  // its constraint names the three
  return *role;
}

Params params_of(const ApiKey& key) {
  return Params(key.id, key.name, name(key.role), key.hash, key.expires_at);
}

TxTask<Adoption> adopt_body(Tx& tx, ApiKey key) {
  const Rows inserted = co_await tx.execute(insert_adopted, params_of(key));
  if (inserted.affected == 0) {
    const Rows revoked = co_await tx.execute(find_revoked_secret, Params(key.hash));
    if (!revoked.empty()) co_return Adoption::retired;
  }
  co_await tx.execute(revoke_others_of_name, Params(key.name, key.hash));
  co_return inserted.affected == 1 ? Adoption::added : Adoption::known;
}

TxTask<bool> rotate_body(Tx& tx, KeyRotation rotation) {
  Params fresh(rotation.old, rotation.fresh, rotation.hash, rotation.expires_at);
  const Rows inserted = co_await tx.execute(insert_rotated, std::move(fresh));
  if (inserted.affected == 0) co_return false;
  co_await tx.execute(end_rotated, Params(rotation.old, rotation.old_ends));
  co_return true;
}

TxTask<> note_use_body(Tx& tx, Id<CallerTag> id) {
  co_await tx.execute(note_key_use, Params(id));
}

}  // namespace

Task<bool> SqlApiKeyStore::add(ApiKey key) {
  Params params = params_of(key);
  const Rows inserted = co_await database_.write(insert_key, std::move(params));
  co_return inserted.affected == 1;
}

Task<Adoption> SqlApiKeyStore::adopt(ApiKey key) {
  return database_.transact(adopt_body, std::move(key));
}

Task<bool> SqlApiKeyStore::rotate(KeyRotation rotation) {
  return database_.transact(rotate_body, std::move(rotation));
}

Task<std::optional<FoundApiKey>> SqlApiKeyStore::find(Bytes hash) {
  Params params(std::move(hash));
  const Rows found = co_await database_.read(find_key, std::move(params));
  if (found.empty()) co_return std::nullopt;
  const Row& row = found.one();
  co_return FoundApiKey{.key = row.id<CallerTag>(0),
                        .caller = {row.id<CallerTag>(1), role_of(row.text(3)), row.text(2)},
                        .note_use = row.boolean(4)};
}

Task<> SqlApiKeyStore::note_use(Id<CallerTag> id) {
  return database_.transact(note_use_body, id);
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
    keys.push_back({row.id<CallerTag>(listed_columns["id"]), row.text(listed_columns["name"]),
                    role_of(row.text(listed_columns["role"])), row.time(listed_columns["created_at"]),
                    row.optional_time(listed_columns["revoked_at"]), row.optional_time(listed_columns["expires_at"]),
                    row.optional_time(listed_columns["last_used_at"])});
  }
  co_return keys;
}

}  // namespace sluice::sql
