// Visits one link and brings back what its page says of itself, why there is nothing to bring, or where the visit goes
// on.
//
// The visit is polite and wary. Every hop, redirects included, asks robots.txt and goes only to http(s) at public
// addresses (the client checks after DNS, http/address_guard.h); time, bytes and hops are bounded.
#pragma once

#include <variant>

#include "links/enrichment_job.h"
#include "links/link_failure.h"
#include "links/links_config.h"
#include "links/page_facts.h"
#include "links/robots.h"

namespace sluice::links {

// What the page says of itself, or where on another domain the visit goes on.
using Visited = std::variant<PageFacts, LinkVisit>;

// Belongs to the client's executor; many visits may be under way.
class Enricher {
 public:
  // All outlive it. `client` was made with client_options.
  Enricher(LinksConfig config, http::Client& client, Clock& clock, TaskScope& scope, Executor executor);

  // What is no HTML page (a picture, a document) has no facts, and that is no failure. `deadline` is of whoever waits;
  // the nearer of it and the configured timeout counts.
  Task<Result<Visited, LinkFailure>> enrich(LinkVisit visit, Deadline deadline = {});

 private:
  Task<Result<Visited, LinkFailure>> follow(LinkVisit visit, Deadline deadline);
  // Nothing where it may be visited.
  Task<std::optional<LinkFailure>> refusal(http::Url url);
  http::ClientRequest request_for(const http::Url& url, Deadline deadline) const;

  LinksConfig config_;
  http::Client& client_;
  Clock& clock_;
  // Pages and robots.txt are what strangers wrote: reading one may take a tenth of a second.
  Offload readers_;
  Robots robots_;
};

}  // namespace sluice::links
