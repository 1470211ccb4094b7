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
  if (!service_key.empty()) {
    if (service_key.size() < accounts::ApiKeys::shortest_secret) {
      throw std::runtime_error(
          fmt::format("SLUICE_SERVICE_KEY must have at least {} characters", accounts::ApiKeys::shortest_secret));
    }
    const bool added = co_await keys_.adopt("SLUICE_SERVICE_KEY", accounts::Role::service, std::move(service_key));
    if (added) log::info("the service key of the environment was added");
  }
  std::string email = variable("SLUICE_ADMIN_EMAIL");
  std::string password = variable("SLUICE_ADMIN_PASSWORD");
  if (email.empty() && password.empty()) co_return;
  const bool exists = co_await user_store_.any_with_role(accounts::Role::admin);
  if (exists) co_return;
  const auto created = co_await create_administrator(std::move(email), std::move(password));
  if (!created) {
    throw std::runtime_error("SLUICE_ADMIN_EMAIL and SLUICE_ADMIN_PASSWORD: " + accounts::explain(created.error()));
  }
  log::info("the first administrator was made");
}

}  // namespace sluice::server
