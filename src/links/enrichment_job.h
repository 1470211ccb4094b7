// The job that enriches one link, as the queue carries it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/url.h"
#include "links/canonical_url.h"

namespace sluice::links {

// Its kind. Its unique key is the link's id, its throttle key the domain where the visit goes on.
constexpr const char* enrich_link = "enrich_link";

// A link on its way to a page. If a redirect leads to another domain the visit ends and continues as a job of that
// domain: so no domain gets more concurrent visits than its throttle allows, wherever they come from.
struct LinkVisit {
  explicit LinkVisit(CanonicalUrl of);  // at its beginning
  LinkVisit(CanonicalUrl of, http::Url goes_on_at, int64_t so_far)
      : link(std::move(of)), at(std::move(goes_on_at)), redirects(so_far) {}

  CanonicalUrl link;
  http::Url at;
  int64_t redirects = 0;  // that led there

  bool operator==(const LinkVisit&) const = default;
};

// {"url": "https://example.com/"}, and once redirects led to another domain also {"at": "https://...", "redirects": 1}.
std::string enrichment_payload(const LinkVisit& visit);
std::string enrichment_payload(const CanonicalUrl& url);
// Nothing where it is no payload of ours.
std::optional<LinkVisit> parse_enrichment_payload(std::string_view payload);

}  // namespace sluice::links
