#include "adapters/sql/accounts/sql_user_store.h"

#include "adapters/sql/driver/sql_text.h"

namespace sluice::sql {
namespace {

constexpr Statement insert_user = R"(
    INSERT INTO users (id, email, email_hash, password_hash, role, status, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, 'ACTIVE', now(), now())
    ON CONFLICT (email_hash) DO NOTHING)"_sql;
constexpr Statement find_role = "SELECT 1 FROM users WHERE role = $1 ORDER BY id LIMIT 1";

}  // namespace

Task<bool> SqlUserStore::add(accounts::NewUser user) {
  Params params(user.id, user.email_sealed, user.email_hash, user.password_hash, name(user.role));
  const Rows inserted = co_await database_.write(insert_user, std::move(params));
  co_return inserted.affected == 1;
}

Task<bool> SqlUserStore::any_with_role(accounts::Role role) {
  Params params(name(role));
  const Rows found = co_await database_.read(find_role, std::move(params));
  co_return !found.empty();
}

}  // namespace sluice::sql
