#include "flows/enrichment.h"

#include "links/enrichment_job.h"
#include "runtime/metrics.h"

namespace sluice::flows {
namespace {

using jobs::JobOutcome;
using links::LinkFailure;
using links::PageFacts;

const metrics::Counter visits{"link_visits_total", "Links visited: enriched, or why not.", {"outcome"}};

}  // namespace

Task<JobOutcome> Enrichment::run(jobs::JobRun job) {
  const auto url = links::parse_enrichment_payload(job.payload);
  if (!url) co_return JobOutcome::dead("its payload names no link");

  Result<PageFacts, LinkFailure> visited = co_await parts_.visit(*url, job.deadline);
  visits.with({visited ? "enriched" : enum_name(visited.error().reason)}).add();
  if (visited) co_return co_await keep(url->id(), *std::move(visited));
  const bool last_try = job.attempt >= job.max_attempts;
  co_return co_await give_up_or_retry(*url, std::move(visited.error()), last_try);
}

Task<JobOutcome> Enrichment::keep(links::LinkId link, PageFacts facts) {
  const std::vector<links::Import> changed = co_await parts_.links.enriched(link, std::move(facts));
  parts_.news.changed(changed);
  co_return JobOutcome::done();
}

Task<JobOutcome> Enrichment::give_up_or_retry(links::CanonicalUrl url, LinkFailure failure, bool last_try) {
  const bool final = co_await is_final(failure);
  if (final || last_try) {
    const std::vector<links::Import> changed = co_await parts_.links.failed(url.id(), failure.reason);
    parts_.news.changed(changed);
  }
  std::string error = fmt::format("{}: {}", enum_name(failure.reason), failure.text);
  co_return final ? JobOutcome::dead(std::move(error)) : JobOutcome::failed(std::move(error));
}

Task<bool> Enrichment::is_final(LinkFailure failure) {
  if (!links::blames_domain(failure.reason)) co_return false;
  const int64_t times = co_await parts_.domains.blame(std::move(failure.host), failure.reason);
  co_return links::is_permanent(failure.reason) || times >= links::BlockedDomains::whims;
}

}  // namespace sluice::flows
