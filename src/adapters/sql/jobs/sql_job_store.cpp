#include "adapters/sql/jobs/sql_job_store.h"

#include <algorithm>
#include <map>
#include <set>

#include "adapters/sql/jobs/job_queue.h"
#include "adapters/sql/jobs/job_requests.h"
#include "adapters/sql/jobs/job_slots.h"
#include "adapters/sql/jobs/job_views.h"
#include "adapters/sql/messaging/inbox.h"
#include "runtime/log.h"

namespace sluice::sql {
namespace {

using jobs::ClaimedJob;
using jobs::ClaimRequest;
using jobs::Verdict;

constexpr const char* inbox_consumer = "jobs";
// Of those who died with their worker, until somebody asks.
constexpr size_t most_remembered = 1'000;

TxTask<bool> enqueue_first_time(Tx& tx, messaging::MessageId message, PreparedJobs jobs) {
  const bool first = co_await first_time(tx, inbox_consumer, message);
  if (first) co_await enqueue_jobs(tx, std::move(jobs));
  co_return first;
}

bool has_throttle_key(const jobs::Completion& completion) {
  return completion.throttle_key.has_value();
}

TxTask<> give_again(Tx& tx, ThrottledKeys keys) {
  LockedKeys locked = co_await lock_keys(tx, std::move(keys));
  co_await give_slots(tx, std::move(locked), WaitingJobs::as_locked);
}

}  // namespace

SqlJobStore::SqlJobStore(Database& database, const jobs::JobKinds& kinds, const Clock& clock, Random& random)
    : database_(database),
      kinds_(kinds),
      clock_(clock),
      random_(random),
      rules_{.kinds = &kinds_, .random = &random_},
      cursors_(clock),
      upkeep_(clock),
      resumes_(database.dialect() == Dialect::postgres) {}

Task<std::vector<jobs::Enqueued>> SqlJobStore::enqueue(std::vector<jobs::NewJob> jobs) {
  const PreparedJobs prepared = prepare_jobs(std::move(jobs), kinds_, clock_.wall(), random_);
  std::vector<jobs::Enqueued> answers = co_await database_.transact(enqueue_jobs, prepared);
  cursors_.go_back_soon();
  co_return answers;
}

Task<bool> SqlJobStore::enqueue_once(messaging::MessageId message, std::vector<jobs::NewJob> jobs) {
  const PreparedJobs prepared = prepare_jobs(std::move(jobs), kinds_, clock_.wall(), random_);
  const bool first = co_await database_.transact(enqueue_first_time, message, prepared);
  if (first) cursors_.go_back_soon();
  co_return first;
}

Task<std::optional<std::vector<jobs::Enqueued>>> SqlJobStore::enqueue_for(jobs::EnqueueRequest request,
                                                                          std::vector<jobs::NewJob> jobs) {
  const PreparedJobs prepared = prepare_jobs(std::move(jobs), kinds_, clock_.wall(), random_);
  std::optional<std::vector<jobs::Enqueued>> answers =
      co_await database_.transact(enqueue_for_request, request, prepared);
  cursors_.go_back_soon();
  co_return answers;
}

Task<std::vector<ClaimedJob>> SqlJobStore::claim(ClaimRequest request) {
  const std::set<std::string> distinct(request.kinds.begin(), request.kinds.end());
  request.kinds.assign(distinct.begin(), distinct.end());
  if (request.kinds.empty() || request.limit == 0) co_return std::vector<ClaimedJob>{};

  std::vector<TakenJob> taken = co_await claim_from_cursors(request);
  if (taken.empty()) {
    // Nothing waits for this claim, so it may look for jobs that have become due or were lost.
    const Kept kept = co_await do_upkeep(UpkeepCursor::Asker::claim);
    if (kept.count > 0) taken = co_await claim_from_cursors(request);
  }

  co_await space_starts(taken);
  std::vector<ClaimedJob> claimed;
  claimed.reserve(taken.size());
  for (TakenJob& one : taken) claimed.push_back(std::move(one.job));
  co_return claimed;
}

Task<std::vector<Verdict>> SqlJobStore::complete(std::vector<jobs::Completion> completions) {
  std::vector<jobs::LockedJob> ended;
  try {
    ended = co_await database_.transact(end_succeeded_jobs, completions, rules_);
    // Slots that were passed on may be anywhere in the order.
    if (std::ranges::any_of(completions, has_throttle_key)) cursors_.go_back_soon();
  } catch (const ConstraintViolation&) {
    // One of them was named twice, or changed under our hands; the long way sorts that out.
  }
  std::vector<Verdict> verdicts(completions.size(), Verdict::accepted);
  if (ended.size() == completions.size()) co_return verdicts;

  std::set<jobs::LockedJob> accepted(ended.begin(), ended.end());
  std::vector<jobs::Ending> rest;
  std::vector<size_t> places;
  for (size_t i = 0; i < completions.size(); ++i) {
    if (accepted.erase(completions[i].job) == 1) continue;
    rest.push_back({.job = completions[i].job, .result = std::move(completions[i].result)});
    places.push_back(i);
  }
  const std::vector<jobs::FailVerdict> others = co_await end_all(std::move(rest));
  for (size_t i = 0; i < places.size(); ++i) verdicts[places[i]] = others[i].verdict;
  co_return verdicts;
}

Task<std::vector<jobs::FailVerdict>> SqlJobStore::fail(std::vector<jobs::Failure> failures) {
  std::vector<jobs::Ending> endings;
  for (jobs::Failure& failure : failures) endings.push_back(ending_of(std::move(failure)));
  return end_all(std::move(endings));
}

Task<std::vector<Verdict>> SqlJobStore::renew(std::vector<jobs::LockedJob> jobs) {
  return database_.transact(renew_locks, std::move(jobs));
}

Task<jobs::Tended> SqlJobStore::tend() {
  const Kept kept = co_await do_upkeep(UpkeepCursor::Asker::background);
  co_return jobs::Tended{.next = kept.next, .now = kept.now, .died = take_died()};
}

Task<std::optional<bool>> SqlJobStore::retry(jobs::JobId id) {
  const std::optional<bool> done = co_await database_.transact(retry_job, id, rules_);
  cursors_.go_back_soon();
  co_return done;
}

Task<std::optional<bool>> SqlJobStore::cancel(jobs::JobId id) {
  return database_.transact(cancel_job, id, rules_);
}

// Goes on where the last call ended, and begins anew once nothing is left: what it passed by was too young.
Task<size_t> SqlJobStore::purge(Duration age, size_t most) {
  OldJobs old{.age = age, .before = first_id_at(clock_.wall() - age + 1ms)};
  {
    const std::lock_guard lock(purge_mutex_);
    old.after = purged_to_;
  }
  const std::vector<jobs::JobId> purged = co_await database_.transact(purge_finished, old, most);
  const std::lock_guard lock(purge_mutex_);
  purged_to_ = purged.size() == most ? purged.back() : jobs::JobId{};
  co_return purged.size();
}

Task<size_t> SqlJobStore::forget_requests(Duration age, size_t most) {
  return database_.transact(forget_old_requests, age, most);
}

Task<size_t> SqlJobStore::forget_idle_keys(size_t most) {
  KeyName after;
  {
    const std::lock_guard lock(purge_mutex_);
    after = last_key_;
  }
  const KeysLookedAt looked = co_await database_.transact(forget_keys, after, most);
  const std::lock_guard lock(purge_mutex_);
  last_key_ = looked.count == most ? looked.last : KeyName{};
  co_return looked.forgotten;
}

Task<std::optional<jobs::Job>> SqlJobStore::find(jobs::JobId id) {
  return find_job(database_, id);
}

Task<jobs::JobPage> SqlJobStore::list(jobs::JobFilter filter, std::optional<jobs::JobId> from, size_t most) {
  return list_jobs(database_, std::move(filter), from, most);
}

Task<jobs::JobStats> SqlJobStore::stats() {
  StatsCache::Turn turn = stats_.begin(clock_.now());
  while (turn.counting) {
    const Executor here = co_await asio::this_coro::executor;
    const std::shared_ptr<coordination::Crowd::Party> party = turn.counting->join(here);
    while (party && !party->over) co_await party->told.wait();
    turn = stats_.begin(clock_.now());
  }
  if (turn.stats) co_return std::move(*turn.stats);
  const Instant start = clock_.now();
  try {
    jobs::JobStats stats = co_await job_stats(database_, clock_.wall());
    stats_.ended(stats, start, clock_.now());
    co_return stats;
  } catch (...) {
    stats_.failed(start, clock_.now());
    throw;
  }
}

Task<std::vector<jobs::FailVerdict>> SqlJobStore::end_all(std::vector<jobs::Ending> endings) {
  std::vector<jobs::FailVerdict> verdicts = co_await database_.transact(end_jobs, std::move(endings), rules_);
  // Slots that were passed on may be anywhere in the order.
  cursors_.go_back_soon();
  co_return verdicts;
}

Task<std::vector<TakenJob>> SqlJobStore::claim_from_cursors(ClaimRequest request) {
  Swept swept = co_await sweep(request);
  const auto may_go_back = [this](const std::string& kind) { return cursors_.may_go_back(kind); };
  if (swept.taken.empty() && !swept.whole && std::ranges::any_of(request.kinds, may_go_back)) {
    swept = co_await sweep(request);
  }
  co_return std::move(swept.taken);
}

Task<SqlJobStore::Swept> SqlJobStore::sweep(ClaimRequest request) {
  std::vector<KindToClaim> kinds = kinds_to_claim(request);
  std::vector<ClaimCursors::Start> starts;
  for (KindToClaim& kind : kinds) {
    starts.push_back(resumes_ ? cursors_.begin(kind.kind) : ClaimCursors::Start{});
    kind.after = starts.back().after;
  }
  Swept swept{.whole = std::ranges::all_of(starts, &ClaimCursors::Start::from_the_beginning)};
  swept.taken = co_await claim_ready(database_, std::move(kinds), request.worker, request.limit);
  std::map<std::string, ClaimPosition> last;
  for (const TakenJob& one : swept.taken) last[one.job.kind] = one.position;
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto found = last.find(request.kinds[i]);
    const auto position = found == last.end() ? std::nullopt : std::optional(found->second);
    cursors_.ended(request.kinds[i], starts[i], position, swept.taken.size() == request.limit);
  }
  co_return swept;
}

// Where starts of a key are spaced, a claim makes room for the next. The jobs are taken all the same if it can't: then
// the end of one does.
Task<> SqlJobStore::space_starts(std::vector<TakenJob> taken) {
  ThrottledKeys keys;
  for (const TakenJob& one : taken) {
    if (!one.job.throttle_key) continue;
    ThrottledKey key = throttled_key(kinds_, one.job.kind, *one.job.throttle_key);
    if (key.gap_us > 0) keys.insert(std::move(key));
  }
  if (keys.empty()) co_return;
  try {
    co_await database_.transact(give_again, std::move(keys));
  } catch (const EngineUnavailable& error) {
    log::warning("scheduling the next throttled jobs failed; the end of a running job does it",
                 {{"error", error.what()}});
  }
}

Task<SqlJobStore::Kept> SqlJobStore::do_upkeep(UpkeepCursor::Asker asker) {
  const UpkeepCursor::Start start = resumes_ ? upkeep_.begin(asker) : UpkeepCursor::Start{};
  const Upkeep seen = co_await look_for_upkeep(database_, start.after);
  upkeep_.looked(start);

  const Time now = seen.now;
  UpkeepPart locks{.reached = now}, scheduled{.reached = now}, keys{.reached = now};
  if (seen.scheduled_due()) scheduled = co_await database_.transact(stage_due, start.after.scheduled, now);
  if (seen.key_due()) keys = co_await database_.transact(tend_keys, start.after.keys, now, rules_);
  if (seen.lost) locks = co_await end_lost(start.after.locks, now);
  if (scheduled.count + keys.count > 0) cursors_.go_back_soon();
  upkeep_.ended(start, {locks.reached, scheduled.reached, keys.reached});

  const size_t count = scheduled.count + keys.count + locks.count;
  // Where there was something there may be more.
  co_return Kept{count, count > 0 ? now : seen.next(), now};
}

Task<UpkeepPart> SqlJobStore::end_lost(Time after, Time now) {
  const LostJobs lost = co_await find_lost(database_, after, now);
  const UpkeepPart part{lost.endings.size(), lost.reached};
  if (lost.endings.empty()) co_return part;
  const std::vector<jobs::FailVerdict> verdicts = co_await end_all(lost.endings);
  const std::lock_guard lock(died_mutex_);
  for (size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].dead && died_.size() < most_remembered) died_.push_back(lost.endings[i].job.id);
  }
  co_return part;
}

std::vector<jobs::JobId> SqlJobStore::take_died() {
  const std::lock_guard lock(died_mutex_);
  return std::exchange(died_, {});
}

std::vector<KindToClaim> SqlJobStore::kinds_to_claim(const ClaimRequest& request) const {
  std::vector<KindToClaim> kinds;
  for (const std::string& kind : request.kinds) kinds.push_back({kind, kinds_.of(kind).lock_ttl});
  return kinds;
}

}  // namespace sluice::sql
