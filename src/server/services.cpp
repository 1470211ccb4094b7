#include "server/services.h"

#include <algorithm>

namespace sluice::server {

const ServiceNames& names(Service service) {
  return *std::ranges::find(services, service, &ServiceNames::service);
}

std::optional<Roles> parse_roles(std::string_view text, std::string& unknown) {
  Roles roles;
  if (text.empty()) {
    for (const ServiceNames& one : services) roles.insert(one.service);
    return roles;
  }
  while (true) {
    const std::string_view role = text.substr(0, text.find(','));
    const auto found = std::ranges::find(services, role, &ServiceNames::role);
    if (found == services.end()) {
      unknown = role;
      return std::nullopt;
    }
    roles.insert(found->service);
    if (role.size() == text.size()) return roles;
    text.remove_prefix(role.size() + 1);
  }
}

}  // namespace sluice::server
