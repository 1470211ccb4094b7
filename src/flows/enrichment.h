// The work of an `enrich_link` job: visits the link, stores the facts, and decides whether a retry makes sense.
//
// The link is settled before its job is: the imports that wait for it are told by the same transaction. A worker that
// dies in between does it once more, which changes nothing. A visit that leads to another domain is handed on to that
// domain's throttle key.
#pragma once

#include <functional>

#include "jobs/job_handler.h"
#include "links/blocked_domains.h"
#include "links/enricher.h"
#include "links/import_news.h"
#include "links/link_store.h"

namespace sluice::flows {

// Belongs to the workers' executor; many jobs may be under way.
class Enrichment {
 public:
  // links::Enricher::enrich.
  using Visit = std::function<Task<Result<links::Visited, links::LinkFailure>>(links::LinkVisit, Deadline)>;

  // The referenced objects outlive it.
  struct Parts {
    Visit visit;
    links::LinkStore& links;
    links::BlockedDomains& domains;
    links::ImportNews& news;
  };

  explicit Enrichment(Parts parts) : parts_(std::move(parts)) {}

  // A JobHandler. Throws EngineUnavailable.
  Task<jobs::JobOutcome> run(jobs::JobRun job);

 private:
  Task<jobs::JobOutcome> keep(links::LinkId link, links::PageFacts facts);
  Task<jobs::JobOutcome> give_up_or_retry(links::LinkId link, links::LinkFailure failure, bool last_try);
  // Whether no further try can help.
  Task<bool> is_final(links::LinkFailure failure);

  Parts parts_;
};

}  // namespace sluice::flows
