// Password hashing: bcrypt on threads of its own.
//
// One hash takes a core for a fraction of a second, on purpose. A bounded pool keeps a storm of logins from slowing
// anything else: beyond it they are refused (Overloaded).
#pragma once

#include <string>

#include "base/random.h"
#include "runtime/config_fwd.h"
#include "runtime/offload.h"

namespace sluice::accounts {

struct PasswordConfig {
  unsigned cost = 12;  // 2^cost rounds
  unsigned threads = 1;
  size_t max_waiting = 64;

  static void describe(config::Section<PasswordConfig>& section);
};

// Safe to share between threads as far as `secrets` is.
class Passwords {
 public:
  // bcrypt ignores bytes after the 72nd; longer passwords are refused rather than truncated.
  static constexpr size_t longest = 72;
  static constexpr size_t shortest = 8;

  Passwords(PasswordConfig config, Random& secrets);

  Task<std::string> hash(std::string password);
  Task<bool> verify(std::string password, std::string hash);

 private:
  PasswordConfig config_;
  Random& secrets_;
  Offload threads_;
};

}  // namespace sluice::accounts
