#include "server/enrichment_parts.h"

#include "links/enrichment_job.h"

namespace sluice::server {
namespace {

constexpr unsigned reading_threads = 2;
constexpr size_t most_unread = 1'000;

}  // namespace

EnrichmentParts::EnrichmentParts(LinkParts& links, const jobs::Throttle& throttle, Clock& clock,
                                 const Executor& executor)
    : client_(executor, clock, client_options(links.config(), static_cast<size_t>(throttle.concurrency))),
      scope_(executor),
      page_readers_("page readers", reading_threads, most_unread),
      enricher_(links.config(), client_, page_readers_, clock, scope_, executor),
      enrichment_({.visit = [this](links::LinkVisit visit,
                                   Deadline deadline) { return enricher_.enrich(std::move(visit), deadline); },
                   .links = links.links(),
                   .domains = links.blocked_domains(),
                   .news = links.news()}) {}

void EnrichmentParts::register_with(jobs::JobHandlers& handlers) {
  handlers.add(links::enrich_link, [this](jobs::JobRun job) { return enrichment_.run(std::move(job)); });
}

Task<> EnrichmentParts::close() {
  co_await scope_.close();
  co_await client_.close();
}

}  // namespace sluice::server
