// Visits one link and returns the facts of its page, the reason of a failure, or the domain where the visit continues.
//
// The visit is polite and wary. Every hop, redirects included, asks robots.txt and goes only to http(s) at public
// addresses (the client checks after DNS, http/client/address_guard.h); time, bytes and hops are bounded.
#pragma once

#include <variant>

#include "links/enrichment_job.h"
#include "links/link_failure.h"
#include "links/links_config.h"
#include "links/page_facts.h"
#include "links/robots.h"

namespace sluice::links {

// The facts of the page, or the visit to continue on another domain.
using Visited = std::variant<PageFacts, LinkVisit>;

// Belongs to the client's executor; many visits may be under way.
class Enricher {
 public:
  // All outlive it. `client` was made with client_options. `readers` parse pages and robots.txt: input of strangers,
  // which may take a tenth of a second.
  Enricher(LinksConfig config, http::Client& client, Offload& readers, Clock& clock, TaskScope& scope,
           Executor executor);

  // Content other than HTML (a picture, a document) has no facts; that is not a failure. `deadline` is the caller's;
  // the earlier of it and the configured timeout counts.
  Task<Result<Visited, LinkFailure>> enrich(LinkVisit visit, Deadline deadline = {});

 private:
  Task<Result<Visited, LinkFailure>> follow(LinkVisit visit, Deadline deadline);
  // Nothing where it may be visited.
  Task<std::optional<LinkFailure>> refusal(http::Url url);
  http::ClientRequest request_for(const http::Url& url, Deadline deadline) const;

  LinksConfig config_;
  http::Client& client_;
  Offload& readers_;
  Clock& clock_;
  Robots robots_;
};

}  // namespace sluice::links
