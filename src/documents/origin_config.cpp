#include "documents/origin_config.h"

#include <set>

namespace sluice::documents {

void RequireConfig::describe(config::Section<RequireConfig>& section) {
  section.key("content_type_not", &RequireConfig::content_type_not, "Content types that are never the document.");
  section.key("well_formed_xml", &RequireConfig::well_formed_xml, "The body must be well-formed XML.");
  section.key("namespace", &RequireConfig::xml_namespace, "The XML must declare this namespace; empty asks for none.");
}

void OriginConfig::describe(config::Section<OriginConfig>& section) {
  section.key("name", &OriginConfig::name, "Its name in our URLs.").not_empty();
  section.key("base_url", &OriginConfig::base_url, "Where it is; a document's path is put behind it.").not_empty();
  section.key("static_dir", &OriginConfig::static_dir, "A folder with bundled copies; empty: none.");
  section
      .key("max_concurrent", &OriginConfig::max_concurrent, "Requests open at the origin at once, over all instances.")
      .between(1, 1000);
  section.key("timeout", &OriginConfig::timeout, "For the whole of one download.").at_least(1ms);
  section.key("wait_limit", &OriginConfig::wait_limit, "How long a reader waits for a download.").at_least(1ms);
  section.key("slot_wait", &OriginConfig::slot_wait, "How long a download waits for its turn at the origin.");
  section.key("claim_ttl", &OriginConfig::claim_ttl, "After what time a crashed instance's download is taken over.")
      .at_least(100ms);
  section.key("hold_down", &OriginConfig::hold_down, "How long a document that failed is not tried again; doubles.");
  section.key("hold_down_max", &OriginConfig::hold_down_max, "The longest hold-down.");
  section.key("max_per_second", &OriginConfig::max_per_second, "Requests that may begin within any second.")
      .between(1, 10'000);
  section
      .key("strangers_per_second", &OriginConfig::strangers_per_second,
           "How many of them may be for paths without a copy, since anybody may invent these; never more than "
           "max_per_second. They use one slot at most and have a breaker of their own.")
      .between(1, 10'000);
  section.key("allow", &OriginConfig::allow,
              "Paths worth asking the origin for, as a glob (* within a segment, ** across); others are 404.");
  section.key("memory_limit", &OriginConfig::memory_limit,
              "Copies kept in memory; the least recently used goes first.");
  section.key("fresh_for", &OriginConfig::fresh_for, "How long a copy is served without asking again.");
  section
      .key("forget_after", &OriginConfig::forget_after,
           "A stored copy that nobody asked for in this time is removed from the database.")
      .at_least(48h);
  section.key("max_bytes", &OriginConfig::max_bytes, "A larger answer is an error.");
  section.key("user_agent", &OriginConfig::user_agent, "How we introduce ourselves.");
  section.table("require", &OriginConfig::require, "What makes a body valid.");
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
  section.list("origin", &DocumentsConfig::origin, "A server whose documents are cached.");
}

void DocumentsConfig::validate(config::Problems& problems) const {
  std::set<std::string> names;
  for (const OriginConfig& one : origin) {
    if (!names.insert(one.name).second) problems.add("origin", "two origins are named " + one.name + "; rename one");
  }
}

}  // namespace sluice::documents
