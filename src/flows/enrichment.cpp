#include "flows/enrichment.h"

#include "links/enrichment_job.h"
#include "runtime/metrics.h"

namespace sluice::flows {
namespace {

using jobs::JobOutcome;
using links::LinkFailure;
using links::PageFacts;

const metrics::Counter visits{
    "link_visits_total",
    "Links visited, by outcome: enriched, redirected to another domain, or the reason of the failure.",
    {"outcome"}};

std::string_view outcome_of(const Result<links::Visited, LinkFailure>& visited) {
  if (!visited) return enum_name(visited.error().reason);
  return std::holds_alternative<PageFacts>(*visited) ? "enriched" : "redirected";
}

JobOutcome hand_on(const links::LinkVisit& visit) {
  jobs::Handover onward{.payload = links::enrichment_payload(visit), .throttle_key = visit.at.host()};
  return JobOutcome::handed_on(std::move(onward), "redirected to " + visit.at.origin());
}

}  // namespace

Task<JobOutcome> Enrichment::run(jobs::JobRun job) {
  const auto visit = links::parse_enrichment_payload(job.payload);
  if (!visit) co_return JobOutcome::dead("the payload has no link");

  Result<links::Visited, LinkFailure> visited = co_await parts_.visit(*visit, job.deadline);
  visits.with({outcome_of(visited)}).add();
  const links::LinkId link = visit->link.id();
  if (!visited) {
    const bool last_try = job.attempt >= job.max_attempts;
    co_return co_await give_up_or_retry(link, std::move(visited.error()), last_try);
  }
  if (const auto* onward = std::get_if<links::LinkVisit>(&*visited)) co_return hand_on(*onward);
  co_return co_await keep(link, std::get<PageFacts>(*std::move(visited)));
}

Task<JobOutcome> Enrichment::keep(links::LinkId link, PageFacts facts) {
  const std::vector<links::Import> changed = co_await parts_.links.enriched(link, std::move(facts));
  parts_.news.changed(changed);
  co_return JobOutcome::done();
}

Task<JobOutcome> Enrichment::give_up_or_retry(links::LinkId link, LinkFailure failure, bool last_try) {
  const bool final = co_await is_final(failure);
  if (final || last_try) {
    const std::vector<links::Import> changed = co_await parts_.links.failed(link, failure.reason);
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
