#include "documents/origin_config.h"

#include <set>

namespace sluice::documents {

void RequireConfig::describe(config::Section<RequireConfig>& section) {
  section.key("content_type_not", &RequireConfig::content_type_not,
              "Content types that are never accepted as a document.");
  section.key("well_formed_xml", &RequireConfig::well_formed_xml, "The body must be well-formed XML.");
  section.key("namespace", &RequireConfig::xml_namespace, "Namespace that the XML must declare; empty requires none.");
}

void OriginConfig::describe(config::Section<OriginConfig>& section) {
  section.key("name", &OriginConfig::name, "Name of the origin in URLs.").not_empty();
  section.key("base_url", &OriginConfig::base_url, "URL of the origin; the path of a document is appended.")
      .not_empty();
  section.key("static_dir", &OriginConfig::static_dir, "Folder with bundled copies; empty means none.");
  section
      .key("max_concurrent", &OriginConfig::max_concurrent,
           "Limit on concurrent requests to the origin, over all instances.")
      .between(1, 1000);
  section.key("timeout", &OriginConfig::timeout, "Time limit for one download.").at_least(1ms);
  section.key("wait_limit", &OriginConfig::wait_limit, "Time a reader waits for a download.").at_least(1ms);
  section.key("slot_wait", &OriginConfig::slot_wait, "Time a download waits for a free slot at the origin.");
  section
      .key("claim_ttl", &OriginConfig::claim_ttl, "Time after which the download of a crashed instance is taken over.")
      .at_least(100ms);
  section.key("hold_down", &OriginConfig::hold_down,
              "Time before a failed document is tried again; doubles with each failure.");
  section.key("hold_down_max", &OriginConfig::hold_down_max, "Upper limit of hold_down.");
  section.key("max_per_second", &OriginConfig::max_per_second, "Limit on requests started in any second.")
      .between(1, 10'000);
  section
      .key("strangers_per_second", &OriginConfig::strangers_per_second,
           "Limit on requests per second for paths without a copy, which any client can invent; max_per_second "
           "also applies. These requests use at most one slot and have their own breaker.")
      .between(1, 10'000);
  section.key("allow", &OriginConfig::allow,
              "Glob of the paths that may be requested from the origin (* within a segment, ** across segments); "
              "others get 404.");
  section.key("memory_limit", &OriginConfig::memory_limit,
              "Memory for copies; the least recently used is evicted first.");
  section.key("fresh_for", &OriginConfig::fresh_for, "Time a copy is served without asking the origin again.");
  section
      .key("forget_after", &OriginConfig::forget_after,
           "Time after its last request at which a stored copy is removed from the database.")
      .at_least(48h);
  section.key("max_bytes", &OriginConfig::max_bytes, "Limit on the size of a document; a larger response is an error.");
  section.key("user_agent", &OriginConfig::user_agent, "User-Agent sent to the origin.");
  section.table("require", &OriginConfig::require, "Checks that a response body must pass.");
}

coordination::LimitPlan rate_plan(const OriginConfig& config) {
  // A permit must live as long as the database takes to commit it, also on a bad day: where it does not, it is spent
  // for nothing. It lengthens every second by itself.
  return {.name = "origin/" + config.name,
          .permit_life = 100ms,
          .window = {{"second", config.max_per_second, 1s},
                     {"strangers", std::min(config.strangers_per_second, config.max_per_second), 1s}},
          .priority = {{.name = "known", .windows = {"second"}},
                       {.name = "strangers", .windows = {"second", "strangers"}}}};
}

std::optional<http::Url> document_url(const std::string& base_url, const DocumentPath& path) {
  return http::Url::parse(base_url + (base_url.ends_with('/') ? "" : "/") + path.text());
}

void OriginConfig::validate(config::Problems& problems) const {
  if (!DocumentPath::parse(name) || name.find('/') != std::string::npos) {
    problems.add("name", "must be one path segment of letters, digits, '.', '_' and '-'");
  }
  if (!document_url(base_url, *DocumentPath::parse("x"))) problems.add("base_url", "must be an http or https URL");
  if (hold_down_max < hold_down) problems.add("hold_down_max", "must not be shorter than hold_down");
}

void DocumentsConfig::describe(config::Section<DocumentsConfig>& section) {
  section.list("origin", &DocumentsConfig::origin, "An origin server whose documents are cached.");
}

void DocumentsConfig::validate(config::Problems& problems) const {
  std::set<std::string> names;
  for (const OriginConfig& one : origin) {
    if (!names.insert(one.name).second) problems.add("origin", "two origins are named " + one.name + "; rename one");
  }
}

}  // namespace sluice::documents
