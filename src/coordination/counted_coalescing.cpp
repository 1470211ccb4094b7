#include "coordination/counted_coalescing.h"

#include "runtime/metrics.h"

namespace sluice::coordination {
namespace {

const metrics::Counter hits{"dedup_coalesce_hit_total", "Requested refreshes that were already pending."};
const metrics::Counter upgrades{"dedup_upgrade_total", "Refreshes moved to a more urgent lane."};
const metrics::Counter repeats{"dedup_repeat_total",
                               "Refreshes published again because their message was presumed lost."};
const metrics::Counter conflicts{"dedup_lock_conflict_total",
                                 "Messages whose item was being fetched by another consumer."};
const metrics::Counter skipped{"obsolete_event_skipped_total", "Messages already satisfied by an earlier fetch."};

void count(FetchOutcome outcome) {
  switch (outcome) {
    case FetchOutcome::run: break;
    case FetchOutcome::obsolete: skipped.add(); break;
    case FetchOutcome::busy: conflicts.add(); break;
  }
}

}  // namespace

Task<RefreshAnswer> CountedCoalescing::request(RefreshRequest request) {
  RefreshAnswer answer = co_await coalescing_.request(std::move(request));
  switch (answer.outcome) {
    case RefreshOutcome::published: break;
    case RefreshOutcome::upgraded: upgrades.add(); break;
    case RefreshOutcome::already: hits.add(); break;
    case RefreshOutcome::repeated: repeats.add(); break;
  }
  co_return answer;
}

Task<bool> CountedCoalescing::unpublish(std::string item, RefreshAnswer answer) {
  return coalescing_.unpublish(std::move(item), std::move(answer));
}

Task<FetchAnswer> CountedCoalescing::look(FetchRequest request) {
  FetchAnswer answer = co_await coalescing_.look(std::move(request));
  count(answer.outcome);
  co_return answer;
}

Task<FetchAnswer> CountedCoalescing::begin(FetchRequest request) {
  FetchAnswer answer = co_await coalescing_.begin(std::move(request));
  count(answer.outcome);
  co_return answer;
}

Task<> CountedCoalescing::finish(std::string item, std::string owner, Version covers) {
  return coalescing_.finish(std::move(item), std::move(owner), covers);
}

Task<> CountedCoalescing::abandon(std::string item, std::string owner, std::optional<Version> given_up) {
  return coalescing_.abandon(std::move(item), std::move(owner), given_up);
}

}  // namespace sluice::coordination
