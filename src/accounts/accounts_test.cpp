#include <gtest/gtest.h>

#include "accounts/api_keys.h"
#include "accounts/passwords.h"
#include "accounts/person_cipher.h"
#include "runtime/virtual_clock.h"

namespace sluice::accounts {
namespace {

TEST(Role, higher_ones_may_do_what_lower_ones_may) {
  const Caller service{{}, Role::service, "worker"};
  EXPECT_TRUE(service.may_act_as(Role::user));
  EXPECT_TRUE(service.may_act_as(Role::service));
  EXPECT_FALSE(service.may_act_as(Role::admin));
  EXPECT_EQ(parse_role("ADMIN"), Role::admin);
  EXPECT_FALSE(parse_role("admin"));
}

TEST(PersonCipher, opens_what_it_sealed_and_nothing_else) {
  SeededRandom random(1);
  PersonCipher cipher(PersonKeys::generate(random), random);
  const Bytes sealed = cipher.seal("kim@example.org", "email");
  EXPECT_EQ(cipher.open(sealed, "email"), "kim@example.org");
  EXPECT_FALSE(cipher.open(sealed, "name"));
  for (size_t i = 0; i < sealed.size(); ++i) {
    Bytes changed = sealed;
    changed[i] ^= 1;
    EXPECT_FALSE(cipher.open(changed, "email")) << i;
  }
  EXPECT_FALSE(cipher.open({}, "email"));
  EXPECT_NE(cipher.seal("kim@example.org", "email"), sealed) << "sealing twice must not show that two are the same";
}

TEST(PersonCipher, a_rotated_key_still_opens_old_values) {
  SeededRandom random(2);
  PersonKeys keys = PersonKeys::generate(random);
  const Bytes old = PersonCipher(keys, random).seal("x", "email");
  random.fill(keys.sealing[2]);
  PersonCipher rotated(*PersonKeys::parse(keys.text()), random);
  EXPECT_EQ(rotated.open(old, "email"), "x");
  EXPECT_EQ(rotated.seal("x", "email")[3], 2);
  EXPECT_EQ(rotated.lookup_hash("x"), PersonCipher(keys, random).lookup_hash("x"));
}

TEST(PersonKeys, refuse_files_that_are_not_keys) {
  for (const std::string_view bad : {"", "lookup zz\n", "1 00\n", "hello"}) EXPECT_FALSE(PersonKeys::parse(bad)) << bad;
}

TEST(Passwords, verify_only_the_right_one) {
  asio::io_context context;
  SeededRandom random(3);
  Passwords passwords({.cost = 4}, random);
  const auto body = [](Passwords& hashing) -> Task<> {
    const std::string hash = co_await hashing.hash("correct horse");
    EXPECT_TRUE(hash.starts_with("$2b$04$"));
    const bool right = co_await hashing.verify("correct horse", hash);
    const bool wrong = co_await hashing.verify("correct hors", hash);
    const bool broken = co_await hashing.verify("correct horse", "nonsense");
    EXPECT_TRUE(right);
    EXPECT_FALSE(wrong);
    EXPECT_FALSE(broken);
  };
  asio::co_spawn(context, body(passwords), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  });
  context.run();
}

}  // namespace
}  // namespace sluice::accounts
