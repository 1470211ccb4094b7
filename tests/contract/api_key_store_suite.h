// The fixture of api_key_store_contract.cpp, for the engines that run it.
#pragma once

#include "adapters/sql/accounts/sql_api_key_store.h"
#include "tests/contract/database_fixture.h"

namespace sluice::test {

class ApiKeyStoreContract : public DatabaseFixture {
 protected:
  void SetUp() override {
    DatabaseFixture::SetUp();
    store_.emplace(database());
  }

  // Ids and hashes no other test uses.
  accounts::ApiKey key(const std::string& name, accounts::Role role) {
    const std::string secret = unique(name);
    return {Id<accounts::CallerTag>::make(Time{1s}, random_), name, role, Bytes(secret.begin(), secret.end())};
  }
  std::optional<accounts::ListedApiKey> listed(Id<accounts::CallerTag> id) {
    for (const accounts::ListedApiKey& one : run(store_->list())) {
      if (one.id == id) return one;
    }
    return std::nullopt;
  }

  accounts::KeyRotation rotation(const accounts::ApiKey& old, Time old_ends) {
    const accounts::ApiKey fresh = key("fresh", old.role);
    return {old.id, fresh.id, fresh.hash, std::nullopt, old_ends};
  }

  static constexpr Time past{1s};
  static constexpr Time future = std::chrono::sys_days{std::chrono::January / 1 / 2200};
  SeededRandom random_{std::random_device{}()};
  std::optional<sql::SqlApiKeyStore> store_;
};

}  // namespace sluice::test
