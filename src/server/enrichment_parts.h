// Enrichment wired to the web and to the stores of links.
#pragma once

#include "flows/enrichment.h"
#include "links/enricher.h"
#include "runtime/offload.h"
#include "server/link_parts.h"

namespace sluice::server {

// Made at start; visits run on `executor`. References must outlive it.
class EnrichmentParts {
 public:
  // `throttle` is that of its jobs.
  EnrichmentParts(LinkParts& links, const jobs::Throttle& throttle, Clock& clock, const Executor& executor);

  void register_with(jobs::JobHandlers& handlers);

  // When no job runs any more.
  Task<> close();

 private:
  http::Client client_;
  TaskScope scope_;
  Offload page_readers_;
  links::Enricher enricher_;
  flows::Enrichment enrichment_;
};

}  // namespace sluice::server
