#include "accounts/passwords.h"
#include "runtime/config_section.h"

namespace sluice::accounts {

void PasswordConfig::describe(config::Section<PasswordConfig>& section) {
  section.key("cost", &PasswordConfig::cost, "Cost of bcrypt: 2^cost rounds, so each step doubles the time.")
      .between(4, 16);
  section.key("threads", &PasswordConfig::threads, "Threads that hash passwords.").between(1, 64);
  section.key("max_waiting", &PasswordConfig::max_waiting, "Limit on passwords waiting to be hashed; more get 503.")
      .at_least(1);
}

}  // namespace sluice::accounts
