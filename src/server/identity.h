// Accounts and keys, wired to their stores: shared by the server and the admin commands.
#pragma once

#include "accounts/administrators.h"
#include "accounts/api_keys.h"
#include "adapters/sql/accounts/sql_api_key_store.h"
#include "adapters/sql/accounts/sql_audit_log.h"
#include "adapters/sql/accounts/sql_user_store.h"
#include "server/settings.h"

namespace sluice::server {

class Identity {
 public:
  Identity(const Settings& settings, sql::Database& database, const Clock& clock, Random& secrets)
      : key_store_(database),
        keys_(key_store_, clock, secrets),
        user_store_(database),
        audit_(database),
        settings_(settings),
        clock_(clock),
        secrets_(secrets) {}

  accounts::ApiKeys& keys() { return keys_; }
  accounts::AuditLog& audit() { return audit_; }

  // Makes an administrator; the keys of person data are loaded, or made, only now.
  Task<Result<Id<accounts::UserTag>, accounts::AdministratorError>> create_administrator(std::string email,
                                                                                         std::string password);

  // Applies SLUICE_ADMIN_EMAIL, SLUICE_ADMIN_PASSWORD and SLUICE_SERVICE_KEY, unless an earlier start did. Throws
  // std::runtime_error with one sentence on failure.
  Task<> apply_environment();

 private:
  Task<> adopt_service_key(std::string secret);
  Task<> create_first_administrator(std::string email, std::string password);

  sql::SqlApiKeyStore key_store_;
  accounts::ApiKeys keys_;
  sql::SqlUserStore user_store_;
  sql::SqlAuditLog audit_;
  const Settings& settings_;
  const Clock& clock_;
  Random& secrets_;
};

}  // namespace sluice::server
