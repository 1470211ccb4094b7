#include "accounts/passwords.h"
#include "runtime/config_section.h"

namespace sluice::accounts {

void PasswordConfig::describe(config::Section<PasswordConfig>& section) {
  section.key("cost", &PasswordConfig::cost, "bcrypt's: 2^cost rounds; each step doubles the time.").between(4, 16);
  section.key("threads", &PasswordConfig::threads, "Passwords hashed at once.").between(1, 64);
  section.key("max_waiting", &PasswordConfig::max_waiting, "Passwords that wait; more get 503.").at_least(1);
}

}  // namespace sluice::accounts
