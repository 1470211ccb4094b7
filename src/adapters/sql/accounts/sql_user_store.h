// User accounts in SQL.
#pragma once

#include "accounts/user_store.h"
#include "adapters/sql/driver/database.h"

namespace sluice::sql {

class SqlUserStore : public accounts::UserStore {
 public:
  explicit SqlUserStore(Database& database) : database_(database) {}

  Task<bool> add(accounts::NewUser user) override;
  Task<bool> any_with_role(accounts::Role role) override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
