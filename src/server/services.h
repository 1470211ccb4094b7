// The services of an installation: their names on the command line, their PostgreSQL schemas and logins.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace sluice::server {

enum class Service { accounts, documents };

struct ServiceNames {
  Service service;
  std::string_view role;    // as --roles takes it
  std::string_view schema;  // in PostgreSQL, also its login
};

inline constexpr std::array<ServiceNames, 2> services{
    {{Service::accounts, "accounts", "user_service"}, {Service::documents, "documents", "document_service"}}};

using Roles = std::set<Service>;

const ServiceNames& names(Service service);

// "accounts,documents"; empty means all. The name that is not a role in `unknown` where there is one.
std::optional<Roles> parse_roles(std::string_view text, std::string& unknown);

}  // namespace sluice::server
