#include "accounts/caller.h"

namespace sluice::accounts {

std::string_view name(Role role) {
  switch (role) {
    case Role::user: return "USER";
    case Role::service: return "SERVICE";
    case Role::admin: return "ADMIN";
  }
  return "";
}

std::optional<Role> parse_role(std::string_view text) {
  for (const Role role : {Role::user, Role::service, Role::admin}) {
    if (name(role) == text) return role;
  }
  return std::nullopt;
}

}  // namespace sluice::accounts
