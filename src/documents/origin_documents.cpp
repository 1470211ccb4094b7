#include "documents/origin_documents.h"

#include "runtime/errors.h"
#include "runtime/retry.h"

namespace sluice::documents {
namespace {

const metrics::Counter requests{"document_requests_total", "Documents served, by cache level.", {"origin", "source"}};
const metrics::Counter degraded{
    "document_degraded_total", "Requests whose document could not be fetched, by reason.", {"origin", "reason"}};
const metrics::Counter coalesced{
    "document_coalesced_total", "Lookups and downloads shared by several readers of this process.", {"origin"}};
const metrics::Histogram waits{"document_wait_seconds", "Time readers waited for a download.", {"origin"}};

// Limit on attempts to replace an unusable copy.
constexpr int most_unusable = 3;
constexpr Duration learn_every = 2s;
constexpr Duration forget_every = 1h;
// Time before a reader's deadline for finding and sending the last copy.
constexpr Duration time_to_answer = 1s;
constexpr Duration first_poll = 50ms;
constexpr Duration longest_poll = 400ms;

Instant answer_by(Deadline deadline) {
  return deadline.at == Instant::max() ? deadline.at : deadline.at - time_to_answer;
}

double seconds(Instant from, Instant to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

OriginDocuments::OriginDocuments(OriginConfig config, OriginParts parts, TaskScope& scope, const Executor& executor)
    : config_(std::move(config)),
      parts_(std::move(parts)),
      scope_(scope),
      copies_(config_, parts_),
      downloads_(config_, parts_, executor),
      lookups_(scope_, executor),
      flights_(scope_, executor),
      from_memory_(requests.with({config_.name, enum_name(Source::memory)})),
      coalesced_(coalesced.with({config_.name})),
      waits_(waits.with({config_.name})) {}

void OriginDocuments::start() {
  scope_.spawn("document changes of " + config_.name,
               run_forever("document-changes", parts_.clock, parts_.random, [this] { return learn_changes(); }));
  scope_.spawn("unused documents of " + config_.name,
               run_forever("document-forget", parts_.clock, parts_.random, [this] { return forget_unused(); }));
}

std::optional<Served> OriginDocuments::in_memory(const DocumentPath& path) {
  std::optional<Served> copy = copies_.fresh_in_memory(path);
  if (copy) from_memory_.add();
  return copy;
}

Task<Lookup> OriginDocuments::get(DocumentPath path, bool fetch, Deadline deadline, std::string traceparent) {
  RefreshRequest request{.path = path, .traceparent = std::move(traceparent)};
  return with_fallback(std::move(path), look_up(std::move(request), fetch, answer_by(deadline)));
}

Task<Lookup> OriginDocuments::refresh(RefreshRequest request, Deadline deadline) {
  DocumentPath path = request.path;
  return with_fallback(std::move(path), look_up(std::move(request), true, answer_by(deadline)));
}

// If the database fails or does not answer in time, uses the copies that need none.
Task<Lookup> OriginDocuments::with_fallback(DocumentPath path, Task<Lookup> asked) {
  std::optional<Lookup> found;
  try {
    found = co_await std::move(asked);
  } catch (const EngineUnavailable&) {  // which the loops of this origin log
  }
  if (!found) {
    const Looking work = [this, path] { return copies_.last_without_database(path); };
    std::optional<Served> left = co_await look_shared("left " + path.text(), work, Instant::max());
    degraded.with({config_.name, enum_name(Reason::database_unavailable)}).add();
    if (!left) co_return Refused{Refusal::unavailable, Reason::database_unavailable};
    left->degraded = Reason::database_unavailable;
    found = std::move(*left);
  }
  if (*found) requests.with({config_.name, enum_name((*found)->source)}).add();
  co_return std::move(*found);
}

Task<Lookup> OriginDocuments::look_up(RefreshRequest request, bool fetch, Instant answer_by) {
  // While it is being fetched there is no fresh copy to look for.
  if (!request.force && !(fetch && flights_.under_way(request.path.text()))) {
    const std::string flight = (fetch ? "fresh " : "any ") + request.path.text();
    const Looking work = [this, path = request.path, fetch] { return copies_.nearest(path, fetch); };
    std::optional<Served> copy = co_await look_shared(flight, work, answer_by);
    if (copy) co_return std::move(*copy);
  }
  if (!fetch || !matches_glob(config_.allow, request.path.text())) co_return Refused{Refusal::not_found};
  co_return co_await fetch_shared(std::move(request), answer_by);
}

Task<std::optional<Served>> OriginDocuments::look_shared(std::string flight, Looking work, Instant answer_by) {
  bool joined = false;
  std::optional<std::optional<Served>> copy =
      co_await lookups_.run_until(parts_.clock, answer_by, std::move(flight), std::move(work), joined);
  if (joined) coalesced_.add();
  if (!copy) throw DeadlineExceeded("documents");
  co_return std::move(*copy);
}

Task<Lookup> OriginDocuments::fetch_shared(RefreshRequest request, Instant answer_by) {
  const DocumentPath path = request.path;
  const Instant began = parts_.clock.now();
  const Instant until = std::min(began + wait_limit(request), answer_by - time_to_answer);
  // A forced download does not join an ordinary one: that may have begun before the change it is to fetch.
  const std::string flight = (request.force ? "forced " : "") + path.text();
  bool joined = false;
  const auto work = [this, &request] { return obtain(std::move(request)); };
  std::optional<Fetched> fetched = co_await flights_.run_until(parts_.clock, until, flight, work, joined);
  if (joined) coalesced_.add();
  waits_.observe(seconds(began, parts_.clock.now()));
  const Refused too_late{Refusal::unavailable, Reason::download_timeout};
  if (!fetched) co_return co_await degrade(path, too_late, answer_by);
  if (!*fetched) co_return co_await degrade(path, fetched->error(), answer_by);
  co_return std::move(**fetched);
}

Task<Lookup> OriginDocuments::degrade(DocumentPath path, Refused refused, Instant answer_by) {
  degraded.with({config_.name, enum_name(*refused.reason)}).add();
  const Looking work = [this, path] { return copies_.last(path); };
  std::optional<Served> last = co_await look_shared("last " + path.text(), work, answer_by);
  if (!last) co_return refused;
  last->degraded = refused.reason;
  co_return std::move(*last);
}

Task<OriginDocuments::Fetched> OriginDocuments::obtain(RefreshRequest request) {
  const DocumentPath path = request.path;
  const Instant until = parts_.clock.now() + wait_limit(request);
  const Lane lane = co_await lane_of(request);
  bool over_fresh = request.force;
  // A download that was under way before a forced request came does not satisfy it; one that began later does.
  bool others_will_do = !request.force;
  for (int unusable = 0; unusable < most_unusable;) {
    if (const std::optional<Refused> refused = downloads_.why_not(lane, request)) co_return *refused;
    OriginDownloads::Attempt attempt = co_await downloads_.attempt(lane, request, over_fresh);
    if (attempt.fetched) {
      if (!*attempt.fetched) co_return attempt.fetched->error();
      copies_.remember(path, **attempt.fetched);
      co_return Served{std::move(**attempt.fetched), Source::origin, std::nullopt, false};
    }
    if (std::holds_alternative<HeldDown>(attempt.claim)) co_return Refused{Refusal::unavailable, Reason::hold_down};
    if (std::holds_alternative<Downloading>(attempt.claim)) {
      std::optional<Fetched> other = co_await wait_for_other(path, until);
      if (other && (others_will_do || parts_.clock.now() >= until)) co_return std::move(*other);
      others_will_do = true;
      continue;  // our turn to try
    }
    DocumentPtr document = co_await copies_.stored(path);
    if (document) co_return Served{std::move(document), Source::database};
    over_fresh = true;  // the stored copy cannot be served
    ++unusable;
  }
  co_return Refused{Refusal::unavailable, Reason::invalid_content};
}

Task<Lane> OriginDocuments::lane_of(RefreshRequest request) {
  if (request.listed) co_return Lane::known;
  const bool known = co_await copies_.knows(std::move(request.path));
  co_return known ? Lane::known : Lane::strangers;
}

// Nothing where the other download ended without a document.
Task<std::optional<OriginDocuments::Fetched>> OriginDocuments::wait_for_other(DocumentPath path, Instant until) {
  Duration poll = first_poll;
  while (parts_.clock.now() < until) {
    const auto spread = static_cast<uint64_t>(poll.count()) / 4 + 1;
    co_await parts_.clock.sleep_for(poll + Duration{static_cast<int64_t>(parts_.random.below(spread))});
    poll = std::min(longest_poll, poll * 3 / 2);
    const DownloadState state = co_await parts_.store.download_state(key(path));
    if (state == DownloadState::under_way) continue;
    if (state == DownloadState::nothing) co_return std::nullopt;
    if (state == DownloadState::failed) co_return Fetched(Refused{Refusal::unavailable, Reason::hold_down});
    DocumentPtr document = co_await copies_.stored(path);
    if (!document || !copies_.fresh(*document)) co_return std::nullopt;
    co_return Fetched(Served{std::move(document), Source::database, std::nullopt, false});
  }
  co_return Fetched(Refused{Refusal::unavailable, Reason::download_timeout});
}

Task<> OriginDocuments::learn_changes() {
  co_await copies_.learn_changes();
  co_await parts_.clock.sleep_for(learn_every);
}

Task<> OriginDocuments::forget_unused() {
  co_await copies_.note_asked();
  int64_t forgotten = 1;
  while (forgotten > 0) forgotten = co_await parts_.store.forget(config_.name, config_.forget_after);
  co_await parts_.clock.sleep_for(forget_every);
}

}  // namespace sluice::documents
