#include "adapters/sentry/sentry_config.h"

#include "adapters/sentry/dsn.h"
#include "runtime/config.h"

namespace sluice::sentry {

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
