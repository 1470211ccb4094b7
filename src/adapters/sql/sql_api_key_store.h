// API keys in SQL.
#pragma once

#include "accounts/api_key_store.h"
#include "adapters/sql/database.h"

namespace sluice::sql {

class SqlApiKeyStore : public accounts::ApiKeyStore {
 public:
  explicit SqlApiKeyStore(Database& database) : database_(database) {}

  Task<bool> add(accounts::ApiKey key) override;
  Task<std::optional<accounts::Caller>> find(Bytes hash) override;
  Task<bool> revoke(Id<accounts::CallerTag> id) override;
  Task<std::vector<accounts::ListedApiKey>> list() override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
