// Contract of every accounts::UserStore, tested on a real engine.
#include "tests/contract/user_store_suite.h"

namespace sluice::test {

TEST_P(UserStoreContract, an_email_is_added_once_also_at_the_same_time) {
  const accounts::NewUser first = user(accounts::Role::user);
  std::vector<Task<bool>> adding;
  for (int i = 0; i < 10; ++i) {
    accounts::NewUser same = user(accounts::Role::user);
    same.email_hash = first.email_hash;
    adding.push_back(store_->add(same));
  }
  EXPECT_EQ(std::ranges::count(values_of(std::move(adding)), true), 1);
  EXPECT_FALSE(run(store_->add(first)));
  EXPECT_TRUE(run(store_->add(user(accounts::Role::user))));
}

TEST_P(UserStoreContract, whether_anybody_has_a_role_is_known) {
  for (const accounts::Role role : {accounts::Role::user, accounts::Role::service, accounts::Role::admin}) {
    EXPECT_TRUE(run(store_->add(user(role))));
    EXPECT_TRUE(run(store_->any_with_role(role)));
  }
}

TEST_P(UserStoreContract, a_refused_user_brings_no_role) {
  const accounts::NewUser first = user(accounts::Role::user);
  run(store_->add(first));
  const bool before = run(store_->any_with_role(accounts::Role::admin));
  accounts::NewUser same = user(accounts::Role::admin);
  same.email_hash = first.email_hash;
  EXPECT_FALSE(run(store_->add(same)));
  EXPECT_EQ(run(store_->any_with_role(accounts::Role::admin)), before);
}

}  // namespace sluice::test
