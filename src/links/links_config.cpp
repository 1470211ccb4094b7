#include "links/links_config.h"

#include "http/syntax.h"
#include "runtime/config.h"

namespace sluice::links {

void LinksConfig::describe(config::Section<LinksConfig>& section) {
  section.key("timeout", &LinksConfig::timeout, "For one link: robots.txt, redirects and page together.")
      .at_least(100ms);
  section.key("read_bytes", &LinksConfig::read_bytes, "What is read of a page; its facts stand at its beginning.")
      .between(kib(1), mib(4));
  section.key("max_bytes", &LinksConfig::max_bytes, "A page that says it is larger is not read at all.");
  section.key("max_redirects", &LinksConfig::max_redirects, "How many are followed.").between(0, 20);
  section.key("user_agent", &LinksConfig::user_agent, "How we introduce ourselves; robots.txt goes by its first word.")
      .not_empty();
  section.key("robots", &LinksConfig::robots, "Whether robots.txt is asked for and heeded.");
  section.key("robots_for", &LinksConfig::robots_for, "How long a site's robots.txt is remembered.")
      .between(1min, std::chrono::days(1));
  section.key("allow_loopback", &LinksConfig::allow_loopback,
              "For tests: loopback addresses may be visited, and names below .test lead there.");
}

void LinksConfig::validate(config::Problems& problems) const {
  if (max_bytes < read_bytes) problems.add("max_bytes", "must not be less than read_bytes");
  if (!http::is_field_value(user_agent)) problems.add("user_agent", "must be text without control characters");
}

http::ClientOptions client_options(const LinksConfig& config) {
  return {.reach = config.allow_loopback ? http::Reach::public_and_loopback : http::Reach::public_only,
          .user_agent = config.user_agent,
          .max_per_origin = 4,
          .idle = 5s};
}

}  // namespace sluice::links
