// Contract of every accounts::ApiKeyStore, tested on a real engine.
#include "tests/contract/api_key_store_suite.h"

namespace sluice::test {

TEST_P(ApiKeyStoreContract, a_key_is_found_by_its_hash) {
  for (const accounts::Role role : {accounts::Role::user, accounts::Role::service, accounts::Role::admin}) {
    const accounts::ApiKey added = key("machine", role);
    EXPECT_FALSE(run(store_->find(added.hash)));
    EXPECT_TRUE(run(store_->add(added)));
    const auto found = run(store_->find(added.hash));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->caller.id, added.id);
    EXPECT_EQ(found->caller.name, "machine");
    EXPECT_EQ(found->caller.role, role);
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
  EXPECT_EQ(run(store_->find(first.hash))->caller.name, "another");
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

TEST_P(ApiKeyStoreContract, an_expired_key_is_not_found) {
  accounts::ApiKey added = key("machine", accounts::Role::service);
  added.expires_at = past;
  run(store_->add(added));
  EXPECT_FALSE(run(store_->find(added.hash)));
  EXPECT_EQ(listed(added.id)->expires_at, past);
  accounts::ApiKey lasting = key("machine", accounts::Role::service);
  lasting.expires_at = future;
  run(store_->add(lasting));
  EXPECT_TRUE(run(store_->find(lasting.hash)));
}

TEST_P(ApiKeyStoreContract, an_adopted_secret_retires_the_one_before_it_which_never_comes_back) {
  const std::string name = unique("environment");
  accounts::ApiKey first = key("", accounts::Role::service);
  accounts::ApiKey second = key("", accounts::Role::service);
  const accounts::ApiKey unrelated = key("unrelated", accounts::Role::service);
  first.name = second.name = name;
  run(store_->add(unrelated));
  EXPECT_EQ(run(store_->adopt(first)), accounts::Adoption::added);
  EXPECT_EQ(run(store_->adopt(first)), accounts::Adoption::known);
  EXPECT_TRUE(run(store_->find(first.hash)));
  EXPECT_EQ(run(store_->adopt(second)), accounts::Adoption::added);
  EXPECT_FALSE(run(store_->find(first.hash)));
  ASSERT_TRUE(run(store_->find(second.hash)));
  EXPECT_EQ(run(store_->find(second.hash))->caller.id, first.id) << "the same caller";
  EXPECT_EQ(run(store_->adopt(first)), accounts::Adoption::retired);
  EXPECT_TRUE(run(store_->find(second.hash))) << "a process that still has the old one must not end the new one";
  EXPECT_TRUE(run(store_->find(unrelated.hash)));
}

TEST_P(ApiKeyStoreContract, a_rotated_key_ends_and_the_new_one_has_its_name_and_role) {
  const accounts::ApiKey old = key("importer", accounts::Role::admin);
  run(store_->add(old));
  const accounts::KeyRotation later = rotation(old, future);
  EXPECT_TRUE(run(store_->rotate(later)));
  EXPECT_TRUE(run(store_->find(old.hash))) << "its grace is not over";
  const auto fresh = run(store_->find(later.hash));
  ASSERT_TRUE(fresh);
  EXPECT_EQ(fresh->caller.name, "importer");
  EXPECT_EQ(fresh->caller.role, accounts::Role::admin);
  EXPECT_EQ(fresh->caller.id, old.id) << "what belongs to the caller stays its own";
  EXPECT_EQ(fresh->key, later.fresh);
  EXPECT_EQ(listed(later.fresh)->expires_at, std::nullopt);

  EXPECT_TRUE(run(store_->rotate(rotation(old, past))));
  EXPECT_FALSE(run(store_->find(old.hash)));
  EXPECT_FALSE(run(store_->rotate(rotation(old, future)))) << "it does not work any more";
  EXPECT_EQ(listed(old.id)->expires_at, past) << "and is not revived";
}

TEST_P(ApiKeyStoreContract, a_rotated_key_passes_its_lifetime_on) {
  accounts::ApiKey old = key("importer", accounts::Role::service);
  old.expires_at = future;
  run(store_->add(old));
  const accounts::KeyRotation again = rotation(old, future);
  EXPECT_TRUE(run(store_->rotate(again)));
  const auto before = *listed(old.id);
  const auto after = *listed(again.fresh);
  EXPECT_EQ(*after.expires_at - after.created_at, *before.expires_at - before.created_at);
}

TEST_P(ApiKeyStoreContract, a_use_is_noted_once_a_minute) {
  const accounts::ApiKey added = key("machine", accounts::Role::service);
  run(store_->add(added));
  EXPECT_FALSE(listed(added.id)->last_used_at);
  EXPECT_TRUE(run(store_->find(added.hash))->note_use);
  run(store_->note_use(added.id));
  const auto noted = listed(added.id)->last_used_at;
  EXPECT_TRUE(noted);
  EXPECT_FALSE(run(store_->find(added.hash))->note_use);
  run(store_->note_use(added.id));
  EXPECT_EQ(listed(added.id)->last_used_at, noted);
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
