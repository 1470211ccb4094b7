// Plans of the stores of accounts: API keys, users, the audit log and denied tokens (tests/contract/postgres_plans.h).
#include "adapters/sql/accounts/sql_api_key_store.h"
#include "adapters/sql/accounts/sql_audit_log.h"
#include "adapters/sql/accounts/sql_user_store.h"
#include "adapters/sql/coordination/sql_denial_records.h"
#include "tests/contract/postgres_plans.h"

namespace sluice::test {
namespace {

using accounts::ApiKey;
using accounts::CallerTag;

class PostgresAccountPlans : public PostgresPlans {
 protected:
  void SetUp() override {
    PostgresPlans::SetUp();
    if (!server_) return;
    database_ = login("user_service");
    keys_.emplace(*database_);
    users_.emplace(*database_);
    audit_.emplace(*database_);
    denials_.emplace(*database_);
  }

  // Rotated keys are kept; there are no administrators.
  void fill_tables() override {
    for (const char* text : {
             "INSERT INTO api_keys (id, owner_id, name, role, key_hash, revoked_at) "
             "SELECT gen_random_uuid(), gen_random_uuid(), 'key ' || i % 100, 'SERVICE', sha256(i::text::bytea), now() "
             "FROM generate_series(1, 30000) AS i",
             "INSERT INTO users (id, email, email_hash, password_hash, role, status, created_at, updated_at) "
             "SELECT gen_random_uuid(), 'e', sha256(i::text::bytea), 'p', 'USER', 'ACTIVE', now(), now() "
             "FROM generate_series(1, 30000) AS i",
             "INSERT INTO audit_log (at, actor, action, target, address, request_id) "
             "SELECT now(), 'actor', 'action', 'target', '', '' FROM generate_series(1, 30000) AS i",
             "INSERT INTO denied_tokens (token, ends_at, written_at) "
             "SELECT 'filling ' || i, now() + interval '1 hour', now() - interval '1 minute' "
             "FROM generate_series(1, 30000) AS i",
         }) {
      execute(*database_, text);
    }
  }

  Bytes new_hash() {
    const std::string text = unique("a hash of the secret");
    return Bytes(text.begin(), text.end());
  }
  ApiKey new_key(const std::string& name) {
    return {.id = Id<CallerTag>::make(clock_.wall(), random_), .name = name, .hash = new_hash()};
  }

  void use_stores(size_t rows_at_once) override {
    use_keys();
    run(users_->add({.id = Id<accounts::UserTag>::make(clock_.wall(), random_),
                     .email_sealed = new_hash(),
                     .email_hash = new_hash(),
                     .password_hash = "p"}));
    run(users_->any_with_role(accounts::Role::admin));
    run(audit_->record({.actor = "actor", .action = "action"}));
    run(audit_->list(static_cast<int64_t>(rows_at_once)));
    use_denials(rows_at_once);
  }

  void use_keys() {
    const ApiKey key = new_key("key 1");
    EXPECT_TRUE(run(keys_->add(key)));
    run(keys_->adopt(new_key("key 1")));
    const ApiKey another = new_key("key 2");
    run(keys_->adopt(another));
    run(keys_->adopt(another));
    EXPECT_TRUE(run(keys_->find(another.hash)));
    run(keys_->note_use(another.id));
    const accounts::KeyRotation rotation{.old = another.id,
                                         .fresh = Id<CallerTag>::make(clock_.wall(), random_),
                                         .hash = new_hash(),
                                         .expires_at = std::nullopt,
                                         .old_ends = clock_.wall() + 1h};
    EXPECT_TRUE(run(keys_->rotate(rotation)));
    EXPECT_TRUE(run(keys_->revoke(key.id)));
    run(keys_->adopt(key));
    run(keys_->list());
  }

  void use_denials(size_t rows_at_once) {
    const auto limit = static_cast<int64_t>(rows_at_once);
    for (size_t i = 0; i < rows_at_once; i += 10) run(denials_->deny({unique("ended"), clock_.wall() - 2h}));
    const std::string token = unique("token");
    run(denials_->deny({token, clock_.wall() + 1h}));
    EXPECT_TRUE(run(denials_->denied(token)));
    const coordination::DenialPage page = run(denials_->read({}, limit));
    run(denials_->read(page.mark, limit));
    EXPECT_GT(run(denials_->purge(limit)), 0);
  }

  // Lists all keys, for an operator.
  std::set<std::string> exempt_statements() const override {
    return {"SELECT id, name, role, created_at, revoked_at, expires_at, last_used_at FROM api_keys ORDER BY"};
  }

  std::unique_ptr<postgres::PostgresDatabase> database_;
  std::optional<sql::SqlApiKeyStore> keys_;
  std::optional<sql::SqlUserStore> users_;
  std::optional<sql::SqlAuditLog> audit_;
  std::optional<sql::SqlDenialRecords> denials_;
};

TEST_F(PostgresAccountPlans, no_statement_on_accounts_reads_a_whole_table_that_grows) {
  expect_only_lookups(20);
}

}  // namespace
}  // namespace sluice::test
