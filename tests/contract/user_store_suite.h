// The fixture of user_store_contract.cpp, for the engines that run it.
#pragma once

#include "adapters/sql/accounts/sql_user_store.h"
#include "tests/contract/database_fixture.h"

namespace sluice::test {

class UserStoreContract : public DatabaseFixture {
 protected:
  void SetUp() override {
    DatabaseFixture::SetUp();
    store_.emplace(database());
  }

  accounts::NewUser user(accounts::Role role) {
    const std::string email = unique("user");
    const Bytes bytes(email.begin(), email.end());
    return {Id<accounts::UserTag>::make(Time{1s}, random_), bytes, bytes, "hash", role};
  }

  SeededRandom random_{std::random_device{}()};
  std::optional<sql::SqlUserStore> store_;
};

}  // namespace sluice::test
