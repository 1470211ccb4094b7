// Whether and where failures are reported: [errors].
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/url.h"
#include "runtime/config_fwd.h"

namespace sluice::sentry {

// The address of Sentry, and the key that it knows a project by: https://KEY@HOST/PROJECT.
struct Dsn {
  std::string key;
  http::Url envelopes;  // where envelopes are sent

  // Nothing if it is invalid. The old form with a secret after the key is accepted, without the secret.
  static std::optional<Dsn> parse(std::string_view text);
};

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
