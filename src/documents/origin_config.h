// An origin and how carefully it is treated: one [[documents.origin]].
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/size.h"
#include "base/time.h"
#include "coordination/limit_plan.h"
#include "documents/document_path.h"
#include "http/url.h"
#include "runtime/config.h"

namespace sluice::documents {

// Checks of a body. An invalid one is never cached and never served.
struct RequireConfig {
  std::vector<std::string> content_type_not{"text/html"};
  bool well_formed_xml = false;
  std::string xml_namespace;  // the document must declare it; implies well_formed_xml

  static void describe(config::Section<RequireConfig>& section);
};

struct OriginConfig {
  std::string name;
  std::string base_url;
  std::string static_dir;
  int64_t max_concurrent = 3;
  Duration timeout = 10s;
  Duration wait_limit = 6300ms;
  Duration slot_wait = 5s;
  Duration claim_ttl = 15s;
  Duration hold_down = 5s;
  Duration hold_down_max = 5min;
  int64_t max_per_second = 10;
  int64_t strangers_per_second = 2;
  std::string allow = "**";
  Size memory_limit = mib(64);
  Duration fresh_for = std::chrono::days(30);
  Duration forget_after = std::chrono::days(90);
  Size max_bytes = mib(8);
  std::string user_agent = "Sluice";
  RequireConfig require;

  static void describe(config::Section<OriginConfig>& section);
  void validate(config::Problems& problems) const;
};

// Known documents have a copy, bundled or stored, or were listed by the operator. All others are strangers: any client
// can invent their names, so they get a small part of the origin's capacity, and their failures do not affect known
// ones.
enum class Lane { known, strangers };

// How often requests may begin at the origin, over all instances. The lanes are its priorities.
coordination::LimitPlan rate_plan(const OriginConfig& config);

// The URL of a document: the base with the path behind it, whether or not the base ends with a slash.
std::optional<http::Url> document_url(const std::string& base_url, const DocumentPath& path);

struct DocumentsConfig {
  std::vector<OriginConfig> origin;

  static void describe(config::Section<DocumentsConfig>& section);
  void validate(config::Problems& problems) const;
};

}  // namespace sluice::documents
