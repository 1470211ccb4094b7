#include "accounts/passwords.h"

#include <crypt.h>
#include <sodium.h>

#include "base/check.h"

namespace sluice::accounts {
namespace {

std::string bcrypt(const std::string& password, const std::string& setting) {
  crypt_data data{};
  const char* const hashed = crypt_r(password.c_str(), setting.c_str(), &data);
  std::string out = hashed == nullptr ? "" : hashed;
  sodium_memzero(&data, sizeof data);
  return out;
}

}  // namespace

Passwords::Passwords(PasswordConfig config, Random& secrets)
    : config_(config), secrets_(secrets), threads_("passwords", config.threads, config.max_waiting) {}

Task<std::string> Passwords::hash(std::string password) {
  check(password.size() <= longest, "the password exceeds the length limit");
  std::array<char, 16> salt{};
  secrets_.fill({reinterpret_cast<uint8_t*>(salt.data()), salt.size()});
  std::array<char, CRYPT_GENSALT_OUTPUT_SIZE> setting{};
  const char* const made =
      crypt_gensalt_rn("$2b$", config_.cost, salt.data(), salt.size(), setting.data(), setting.size());
  check(made != nullptr, "crypt_gensalt does not support bcrypt");
  auto work = [password = std::move(password), setting = std::string(made)] { return bcrypt(password, setting); };
  std::string hashed = co_await threads_.run(std::move(work));
  check(hashed.starts_with("$2b$"), "bcrypt returned no hash");
  co_return hashed;
}

Task<bool> Passwords::verify(std::string password, std::string hash) {
  if (password.size() > longest) co_return false;
  auto work = [password = std::move(password), hash = std::move(hash)] {
    const std::string again = bcrypt(password, hash);
    return again.size() == hash.size() && sodium_memcmp(again.data(), hash.data(), hash.size()) == 0;
  };
  co_return co_await threads_.run(std::move(work));
}

}  // namespace sluice::accounts
