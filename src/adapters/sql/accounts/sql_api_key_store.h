// API keys in SQL.
#pragma once

#include "accounts/api_key_store.h"
#include "adapters/sql/driver/database.h"

namespace sluice::sql {

class SqlApiKeyStore : public accounts::ApiKeyStore {
 public:
  explicit SqlApiKeyStore(Database& database) : database_(database) {}

  Task<bool> add(accounts::ApiKey key) override;
  Task<accounts::Adoption> adopt(accounts::ApiKey key) override;
  Task<bool> rotate(accounts::KeyRotation rotation) override;
  Task<std::optional<accounts::FoundApiKey>> find(Bytes hash) override;
  Task<> note_use(Id<accounts::CallerTag> id) override;
  Task<bool> revoke(Id<accounts::CallerTag> id) override;
  Task<std::vector<accounts::ListedApiKey>> list() override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
