// Where Sentry is, and the key that it knows a project by: https://KEY@HOST/PROJECT.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/url.h"

namespace sluice::sentry {

struct Dsn {
  std::string key;
  http::Url envelopes;  // where envelopes are sent

  // Nothing if it is invalid. The old form with a secret after the key is accepted, without the secret.
  static std::optional<Dsn> parse(std::string_view text);
};

}  // namespace sluice::sentry
