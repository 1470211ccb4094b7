#include "links/links_config.h"

#include "http/syntax.h"
#include "runtime/config.h"

namespace sluice::links {

void ImportsConfig::describe(config::Section<ImportsConfig>& section) {
  section.key("at_once", &ImportsConfig::at_once, "Limit on files that this process reads at once; more get 503.")
      .between(1, 1000);
  section.key("at_once_each", &ImportsConfig::at_once_each, "Limit on files of one user read at once; more get 429.")
      .between(1, 1000);
  section
      .key("reading_limit", &ImportsConfig::reading_limit,
           "Time after which an import with a stalled upload has failed.")
      .at_least(1s);
  section.key("settle_every", &ImportsConfig::settle_every, "Interval between searches for interrupted imports.")
      .at_least(100ms);
  section
      .key("look_every", &ImportsConfig::look_every,
           "Interval between checks of a watched import for changes by other processes.")
      .at_least(100ms);
  section
      .key("keep_ended", &ImportsConfig::keep_ended,
           "Time an import and its Idempotency-Key are kept after it ended. Its bookmarks stay.")
      .at_least(1h);
  section
      .key("keep_unused_links", &ImportsConfig::keep_unused_links,
           "Time a link is kept after its last bookmark was deleted.")
      .at_least(1h);
}

void LinksConfig::describe(config::Section<LinksConfig>& section) {
  section.key("enrich", &LinksConfig::enrich,
              "Visit links in this process; otherwise they wait for a process that does.");
  section.key("timeout", &LinksConfig::timeout, "Time limit for one link, including robots.txt and redirects.")
      .at_least(100ms);
  section.key("read_bytes", &LinksConfig::read_bytes, "Bytes read from the start of a page.").between(kib(1), mib(4));
  section.key("max_bytes", &LinksConfig::max_bytes, "A page whose Content-Length exceeds this is not read.");
  section.key("max_redirects", &LinksConfig::max_redirects, "Limit on redirects followed.").between(0, 20);
  section
      .key("user_agent", &LinksConfig::user_agent,
           "User-Agent sent to sites; its first word selects the rules in robots.txt.")
      .not_empty();
  section.key("robots", &LinksConfig::robots, "Fetch and obey robots.txt.");
  section.key("robots_for", &LinksConfig::robots_for, "Time the robots.txt of a site is cached.")
      .between(1min, std::chrono::days(1));
  section.key("allow_loopback", &LinksConfig::allow_loopback,
              "For tests: allow loopback addresses, and resolve names below .test to them.");
  section.table("imports", &LinksConfig::imports, "Imports of bookmark files.");
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
