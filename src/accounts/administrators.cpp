#include "accounts/administrators.h"

#include <fmt/format.h>

namespace sluice::accounts {
namespace {

// Checks only the form that every address has; the mail server decides the rest.
bool looks_like_email(std::string_view email) {
  const size_t at = email.find('@');
  return at != std::string_view::npos && at > 0 && at + 1 < email.size() && email.rfind('@') == at &&
         email.size() <= 254 && email.find_first_of(" \t\r\n") == std::string_view::npos && is_utf8(email);
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return text;
}

}  // namespace

std::string explain(AdministratorError error) {
  switch (error) {
    case AdministratorError::bad_email: return "the e-mail address is invalid";
    case AdministratorError::password_too_short:
      return fmt::format("the password must have at least {} characters", Passwords::shortest);
    case AdministratorError::password_too_long:
      return fmt::format("the password must have at most {} bytes", Passwords::longest);
    case AdministratorError::email_taken: return "an account with that e-mail address exists already";
  }
  return "";
}

Task<Result<Id<UserTag>, AdministratorError>> Administrators::create(std::string email, std::string password) {
  if (!looks_like_email(email)) co_return AdministratorError::bad_email;
  if (password.size() < Passwords::shortest) co_return AdministratorError::password_too_short;
  if (password.size() > Passwords::longest) co_return AdministratorError::password_too_long;
  email = lower_case(std::move(email));

  NewUser user;
  user.id = Id<UserTag>::make(clock_.wall(), random_);
  user.email_sealed = cipher_.seal(email, "email");
  user.email_hash = cipher_.lookup_hash(email);
  user.password_hash = co_await passwords_.hash(std::move(password));
  user.role = Role::admin;
  const Id<UserTag> id = user.id;
  const bool added = co_await users_.add(std::move(user));
  if (!added) co_return AdministratorError::email_taken;
  co_return id;
}

}  // namespace sluice::accounts
