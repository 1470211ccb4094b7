// The services of an installation: their names on the command line, their PostgreSQL schemas and logins.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace sluice::server {

// Relays publish the outboxes of all databases; each database has a schema `common` with its own.
enum class Service { accounts, documents, jobs, relay };

struct ServiceNames {
  Service service;
  std::string_view role;    // as --roles takes it
  std::string_view schema;  // in PostgreSQL, also its login
};

inline constexpr std::array<ServiceNames, 4> services{{{Service::accounts, "accounts", "user_service"},
                                                       {Service::documents, "documents", "document_service"},
                                                       {Service::jobs, "jobs", "job_service"},
                                                       {Service::relay, "relay", "common"}}};

using Roles = std::set<Service>;

const ServiceNames& names(Service service);

// "accounts,documents"; empty means all. The name that is not a role in `unknown` where there is one.
std::optional<Roles> parse_roles(std::string_view text, std::string& unknown);

}  // namespace sluice::server
