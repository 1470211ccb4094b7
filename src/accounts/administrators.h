// The first people of an installation.
//
// An administrator is a user account of role ADMIN, created from the command line or the environment, before sign-up is
// possible.
#pragma once

#include <string>

#include "accounts/passwords.h"
#include "accounts/person_cipher.h"
#include "accounts/user_store.h"
#include "base/result.h"
#include "runtime/clock.h"

namespace sluice::accounts {

enum class AdministratorError { bad_email, password_too_short, password_too_long, email_taken };
// One sentence for the operator.
std::string explain(AdministratorError error);

class Administrators {
 public:
  Administrators(UserStore& users, PersonCipher& cipher, Passwords& passwords, const Clock& clock, Random& random)
      : users_(users), cipher_(cipher), passwords_(passwords), clock_(clock), random_(random) {}

  Task<Result<Id<UserTag>, AdministratorError>> create(std::string email, std::string password);

 private:
  UserStore& users_;
  PersonCipher& cipher_;
  Passwords& passwords_;
  const Clock& clock_;
  Random& random_;
};

}  // namespace sluice::accounts
