// The job that enriches one link, as the queue carries it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "links/canonical_url.h"

namespace sluice::links {

// Its kind. Its unique key is the link's id, its throttle key the domain.
constexpr const char* enrich_link = "enrich_link";

// {"url": "https://example.com/"}
std::string enrichment_payload(const CanonicalUrl& url);
// Nothing where it is no payload of ours.
std::optional<CanonicalUrl> parse_enrichment_payload(std::string_view payload);

}  // namespace sluice::links
