// Whether and where failures are told: [errors].
#pragma once

#include <string>

#include "runtime/config_fwd.h"

namespace sluice::sentry {

struct SentryConfig {
  std::string dsn = {};  // empty: nowhere
  std::string environment = "production";
  std::string ca_file = {};  // PEM; empty: the system's
  size_t max_waiting = 200;

  static void describe(config::Section<SentryConfig>& section);
  void validate(config::Problems& problems) const;

  bool used() const { return !dsn.empty(); }
};

}  // namespace sluice::sentry
