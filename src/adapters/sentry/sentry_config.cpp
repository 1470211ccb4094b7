#include "adapters/sentry/sentry_config.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/config.h"

namespace sluice::sentry {
namespace {

// It becomes part of a header.
bool is_key(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0; });
}

}  // namespace

std::optional<Dsn> Dsn::parse(std::string_view text) {
  const size_t scheme = text.find("://");
  const size_t at = text.find('@');
  if (scheme == std::string_view::npos || at == std::string_view::npos || at < scheme) return std::nullopt;
  std::string_view key = text.substr(scheme + 3, at - scheme - 3);
  key = key.substr(0, key.find(':'));
  const auto place = http::Url::parse(fmt::format("{}://{}", text.substr(0, scheme), text.substr(at + 1)));
  if (!is_key(key) || !place || place->query()) return std::nullopt;
  const size_t slash = place->path().rfind('/');
  const std::string prefix = place->path().substr(0, slash);
  const std::string project = place->path().substr(slash + 1);
  if (project.empty()) return std::nullopt;
  const auto envelopes = http::Url::parse(fmt::format("{}{}/api/{}/envelope/", place->origin(), prefix, project));
  if (!envelopes) return std::nullopt;
  return Dsn{std::string(key), *envelopes};
}

void SentryConfig::describe(config::Section<SentryConfig>& section) {
  section.secret("dsn", &SentryConfig::dsn,
                 "DSN of the Sentry project, https://KEY@HOST/PROJECT. Without it failures are only logged.");
  section.key("environment", &SentryConfig::environment, "Name of this installation in Sentry.").not_empty();
  section.key("ca_file", &SentryConfig::ca_file,
              "PEM file of the certificate authorities to trust instead of the system's.");
  section.key("max_waiting", &SentryConfig::max_waiting, "Limit on reports waiting to be sent; more are dropped.")
      .between(1, 10'000);
}

void SentryConfig::validate(config::Problems& problems) const {
  if (used() && !Dsn::parse(dsn)) problems.add("dsn", "must be https://KEY@HOST/PROJECT, as Sentry shows it");
}

}  // namespace sluice::sentry
