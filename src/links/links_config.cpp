#include "links/links_config.h"

#include "http/syntax.h"
#include "runtime/config.h"

namespace sluice::links {

void ImportsConfig::describe(config::Section<ImportsConfig>& section) {
  section.key("at_once", &ImportsConfig::at_once, "Files that this process reads at once; more get 503.")
      .between(1, 1000);
  section.key("at_once_each", &ImportsConfig::at_once_each, "Of those, files of one user; more get 429.")
      .between(1, 1000);
  section
      .key("reading_limit", &ImportsConfig::reading_limit,
           "An import whose upload stands still for this long has failed.")
      .at_least(1s);
  section.key("settle_every", &ImportsConfig::settle_every, "How often what broke off is looked for.").at_least(100ms);
  section
      .key("look_every", &ImportsConfig::look_every,
           "How often an import that somebody watches is looked at; what this process did is told at once.")
      .at_least(100ms);
  section
      .key("keep_ended", &ImportsConfig::keep_ended,
           "How long an import is kept after it ended, and with it that its Idempotency-Key was used. Its bookmarks "
           "stay.")
      .at_least(1h);
  section
      .key("keep_unused_links", &ImportsConfig::keep_unused_links,
           "How long a link is kept after its last bookmark was deleted.")
      .at_least(1h);
}

void LinksConfig::describe(config::Section<LinksConfig>& section) {
  section.key("enrich", &LinksConfig::enrich,
              "Whether this process visits links; where not, they wait for one that does.");
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
  section.table("imports", &LinksConfig::imports, "How files of bookmarks are taken in.");
}

void LinksConfig::validate(config::Problems& problems) const {
  if (max_bytes < read_bytes) problems.add("max_bytes", "must not be less than read_bytes");
  if (!http::is_field_value(user_agent)) problems.add("user_agent", "must be text without control characters");
}

http::ClientOptions client_options(const LinksConfig& config, size_t at_once) {
  return {.reach = config.allow_loopback ? http::Reach::public_and_loopback : http::Reach::public_only,
          .user_agent = config.user_agent,
          .max_per_origin = at_once,
          .idle = 5s,
          .resolver = {.threads = 16}};  // strangers' name servers often hang
}

}  // namespace sluice::links
