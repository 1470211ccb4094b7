// What every accounts::ApiKeyStore promises, tried on a real engine.
#pragma once

#include "adapters/sql/sql_api_key_store.h"
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

  SeededRandom random_{std::random_device{}()};
  std::optional<sql::SqlApiKeyStore> store_;
};

TEST_P(ApiKeyStoreContract, a_key_is_found_by_its_hash) {
  for (const accounts::Role role : {accounts::Role::user, accounts::Role::service, accounts::Role::admin}) {
    const accounts::ApiKey added = key("machine", role);
    EXPECT_FALSE(run(store_->find(added.hash)));
    EXPECT_TRUE(run(store_->add(added)));
    const auto found = run(store_->find(added.hash));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, added.id);
    EXPECT_EQ(found->name, "machine");
    EXPECT_EQ(found->role, role);
  }
}

TEST_P(ApiKeyStoreContract, a_secret_is_added_once_also_at_the_same_time) {
  const accounts::ApiKey first = key("first", accounts::Role::service);
  std::vector<Task<bool>> adding;
  for (int i = 0; i < 10; ++i) {
    accounts::ApiKey same = key("another", accounts::Role::admin);
    same.hash = first.hash;
    adding.push_back(store_->add(same));
  }
  EXPECT_EQ(std::ranges::count(values_of(std::move(adding)), true), 1);
  EXPECT_EQ(run(store_->find(first.hash))->name, "another");
}

TEST_P(ApiKeyStoreContract, a_revoked_key_is_not_found_and_its_secret_never_taken_again) {
  const accounts::ApiKey added = key("machine", accounts::Role::service);
  run(store_->add(added));
  EXPECT_TRUE(run(store_->revoke(added.id)));
  EXPECT_FALSE(run(store_->find(added.hash)));
  accounts::ApiKey again = key("again", accounts::Role::service);
  again.hash = added.hash;
  EXPECT_FALSE(run(store_->add(again)));
}

TEST_P(ApiKeyStoreContract, revoking_again_is_harmless_and_keeps_the_time) {
  const accounts::ApiKey added = key("machine", accounts::Role::service);
  run(store_->add(added));
  EXPECT_FALSE(listed(added.id)->revoked_at);
  run(store_->revoke(added.id));
  const auto revoked_at = listed(added.id)->revoked_at;
  EXPECT_TRUE(revoked_at);
  EXPECT_TRUE(run(store_->revoke(added.id)));
  EXPECT_EQ(listed(added.id)->revoked_at, revoked_at);
  EXPECT_FALSE(run(store_->revoke(key("unknown", accounts::Role::user).id)));
}

TEST_P(ApiKeyStoreContract, the_oldest_is_listed_first) {
  const accounts::ApiKey older = key("older", accounts::Role::service);
  const accounts::ApiKey newer = key("newer", accounts::Role::user);
  run(store_->add(older));
  run(store_->add(newer));
  const auto keys = run(store_->list());
  ASSERT_GE(keys.size(), 2U);
  EXPECT_TRUE(std::ranges::is_sorted(keys, {}, &accounts::ListedApiKey::created_at));
  EXPECT_EQ(keys[keys.size() - 2].name, "older");
  EXPECT_EQ(keys.back().name, "newer");
  EXPECT_EQ(keys.back().role, accounts::Role::user);
}

}  // namespace sluice::test
