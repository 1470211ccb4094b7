// Stores user accounts.
#pragma once

#include <string>

#include "accounts/caller.h"
#include "base/encoding.h"

namespace sluice::accounts {

struct UserTag;

struct NewUser {
  Id<UserTag> id;
  Bytes email_sealed;
  Bytes email_hash;
  std::string password_hash;
  Role role = Role::user;
};

// Every implementation passes tests/contract/user_store_contract.cpp.
class UserStore {
 public:
  virtual ~UserStore() = default;

  // False where the e-mail's hash is taken; then nothing changes.
  virtual Task<bool> add(NewUser user) = 0;
  virtual Task<bool> any_with_role(Role role) = 0;
};

}  // namespace sluice::accounts
