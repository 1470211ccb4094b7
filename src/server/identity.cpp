#include "server/identity.h"

#include <cstdlib>
#include <stdexcept>

#include <fmt/format.h>

#include "runtime/log.h"
#include "server/person_keys.h"

namespace sluice::server {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Task<Result<Id<accounts::UserTag>, accounts::AdministratorError>> Identity::create_administrator(std::string email,
                                                                                                 std::string password) {
  accounts::PersonCipher cipher(load_person_keys(settings_, secrets_), secrets_);
  accounts::Passwords passwords(settings_.accounts.passwords, secrets_);
  accounts::Administrators administrators(user_store_, cipher, passwords, clock_, secrets_);
  co_return co_await administrators.create(std::move(email), std::move(password));
}

Task<> Identity::apply_environment() {
  std::string service_key = variable("SLUICE_SERVICE_KEY");
  if (!service_key.empty()) co_await adopt_service_key(std::move(service_key));
  std::string email = variable("SLUICE_ADMIN_EMAIL");
  std::string password = variable("SLUICE_ADMIN_PASSWORD");
  if (email.empty() && password.empty()) co_return;
  const bool exists = co_await user_store_.any_with_role(accounts::Role::admin);
  if (!exists) co_await create_first_administrator(std::move(email), std::move(password));
}

Task<> Identity::adopt_service_key(std::string secret) {
  using accounts::ApiKeys;
  if (secret.size() < ApiKeys::shortest_secret || secret.size() > ApiKeys::longest_secret) {
    throw std::runtime_error(fmt::format("SLUICE_SERVICE_KEY must have at least {} and at most {} characters",
                                         ApiKeys::shortest_secret, ApiKeys::longest_secret));
  }
  const accounts::Adoption adoption = co_await keys_.adopt(std::move(secret));
  switch (adoption) {
    case accounts::Adoption::known: break;
    case accounts::Adoption::retired:
      log::warning("SLUICE_SERVICE_KEY was replaced or revoked and no longer works; set a new one");
      break;
    case accounts::Adoption::added: {
      log::info("the service key of the environment was added; the previous one was revoked");
      accounts::AuditEntry entry{.actor = "environment", .action = "adopt-key", .target = "SLUICE_SERVICE_KEY"};
      co_await audit_.record(std::move(entry));
      break;
    }
  }
}

Task<> Identity::create_first_administrator(std::string email, std::string password) {
  accounts::AuditEntry entry{.actor = "environment", .action = "create"};
  co_await audit_.record(std::move(entry));
  const auto created = co_await create_administrator(std::move(email), std::move(password));
  if (!created) {
    throw std::runtime_error("SLUICE_ADMIN_EMAIL and SLUICE_ADMIN_PASSWORD: " + accounts::explain(created.error()));
  }
  log::info("the first administrator was created");
}

}  // namespace sluice::server
