#include "documents/origin_documents.h"

#include "documents/content_check.h"
#include "runtime/errors.h"
#include "runtime/metrics.h"
#include "runtime/retry.h"

namespace sluice::documents {
namespace {

const metrics::Counter requests{
    "document_requests_total", "Documents served, by the level that answered.", {"origin", "source"}};
const metrics::Counter degraded{
    "document_degraded_total", "Answers that could not be fetched, by reason.", {"origin", "reason"}};
const metrics::Counter coalesced{
    "document_coalesced_total", "Readers who shared a lookup under way in this process.", {"origin"}};
const metrics::Histogram waits{"document_wait_seconds", "How long readers waited for a download.", {"origin"}};

// A copy that turns out unusable is replaced, but not for ever.
constexpr int most_tries = 3;
constexpr Duration learn_every = 2s;
constexpr Duration first_poll = 50ms;
constexpr Duration longest_poll = 400ms;

double seconds(Instant from, Instant to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

OriginDocuments::OriginDocuments(OriginConfig config, OriginParts parts, TaskScope& scope, const Executor& executor)
    : config_(std::move(config)),
      parts_(std::move(parts)),
      scope_(scope),
      memory_(static_cast<size_t>(config_.memory_limit.bytes)),
      downloads_(config_, parts_, executor),
      lookups_(scope_, executor),
      flights_(scope_, executor) {}

void OriginDocuments::start() {
  scope_.spawn("document changes of " + config_.name,
               run_forever("document-changes", parts_.clock, parts_.random, [this] { return learn_changes(); }));
  scope_.spawn("document claims of " + config_.name,
               run_forever("document-sweep", parts_.clock, parts_.random, [this] { return sweep(); }));
}

DocumentPtr OriginDocuments::in_memory(const DocumentPath& path) {
  DocumentPtr document = memory_.find(path.text());
  if (!document || !fresh(*document)) return nullptr;
  requests.with({config_.name, name(Source::memory)}).add();
  return document;
}

bool OriginDocuments::fresh(const Document& document) const {
  return document.fetched_at + config_.fresh_for > parts_.clock.wall();
}

bool OriginDocuments::usable(const Document& document) const {
  return !find_fault(config_.require, document.content_type, document.body);
}

Task<Lookup> OriginDocuments::get(DocumentPath path, bool fetch) {
  RefreshRequest request{path};
  return or_from_memory(std::move(path), look_up(std::move(request), fetch));
}

Task<Lookup> OriginDocuments::refresh(RefreshRequest request) {
  DocumentPath path = request.path;
  return or_from_memory(std::move(path), look_up(std::move(request), true));
}

// The database is away: a copy in memory, however old, is better than none.
Task<Lookup> OriginDocuments::or_from_memory(DocumentPath path, Task<Lookup> asked) {
  std::optional<Lookup> found;
  try {
    found = co_await std::move(asked);
  } catch (const EngineUnavailable&) {
    DocumentPtr last = memory_.find(path.text());
    if (!last) throw;
    degraded.with({config_.name, name(Reason::origin_error)}).add();
    found = Served{std::move(last), Source::stale, Reason::origin_error};
  }
  if (*found) requests.with({config_.name, name((*found)->source)}).add();
  co_return std::move(*found);
}

Task<Lookup> OriginDocuments::look_up(RefreshRequest request, bool fetch) {
  // While it is being fetched there is no fresh copy to look for.
  if (!request.force && !(fetch && flights_.under_way(request.path.text()))) {
    const std::string flight = (fetch ? "fresh " : "any ") + request.path.text();
    const auto work = [this, path = request.path, fetch] { return nearest_copy(path, fetch); };
    std::optional<Served> copy = co_await lookups_.run(flight, work);
    if (copy) co_return std::move(*copy);
  }
  if (!fetch || !matches_glob(config_.allow, request.path.text())) co_return Refused{Refusal::not_found};
  co_return co_await fetch_shared(std::move(request));
}

Task<bool> OriginDocuments::purge(DocumentPath path) {
  const bool purged = co_await parts_.store.purge(key(path));
  memory_.erase(path.text());
  outranks_static_.erase(path.text());
  co_return purged;
}

void OriginDocuments::remember(const DocumentPath& path, DocumentPtr document, int64_t seen_change) {
  if (seen_change == known_change_) memory_.put(path.text(), std::move(document));
}

Task<std::optional<Served>> OriginDocuments::nearest_copy(DocumentPath path, bool must_be_fresh) {
  if (DocumentPtr document = memory_.find(path.text()); document && (fresh(*document) || !must_be_fresh)) {
    co_return Served{std::move(document), Source::memory};
  }
  const int64_t seen_change = known_change_;
  if (!outranks_static_.contains(path.text())) {
    DocumentPtr document = co_await parts_.static_copies.find(path);
    if (document && usable(*document)) {
      remember(path, document, seen_change);
      co_return Served{std::move(document), Source::static_file};
    }
  }
  if (!matches_glob(config_.allow, path.text())) co_return std::nullopt;
  DocumentPtr document = co_await parts_.store.find(key(path));
  if (!document || !usable(*document) || (must_be_fresh && !fresh(*document))) co_return std::nullopt;
  remember(path, document, seen_change);
  co_return Served{std::move(document), Source::database};
}

Task<Lookup> OriginDocuments::fetch_shared(RefreshRequest request) {
  const DocumentPath path = request.path;
  const Instant began = parts_.clock.now();
  const Instant until = began + config_.wait_limit;
  // A forced download does not join an ordinary one: that may have begun before the change it is to fetch.
  const std::string flight = (request.force ? "forced " : "") + path.text();
  bool joined = false;
  const auto work = [this, &request] { return obtain(std::move(request)); };
  std::optional<Fetched> fetched = co_await flights_.run_until(parts_.clock, until, flight, work, joined);
  if (joined) coalesced.with({config_.name}).add();
  waits.with({config_.name}).observe(seconds(began, parts_.clock.now()));
  if (!fetched) co_return co_await degrade(path, Reason::download_timeout);
  if (!*fetched) co_return co_await degrade(path, fetched->error());
  co_return std::move(**fetched);
}

Task<Lookup> OriginDocuments::degrade(DocumentPath path, Reason reason) {
  degraded.with({config_.name, name(reason)}).add();
  DocumentPtr copy = co_await parts_.static_copies.find(path);
  if (copy && usable(*copy) && !outranks_static_.contains(path.text())) {
    co_return Served{std::move(copy), Source::static_file, reason};
  }
  copy = memory_.find(path.text());
  if (!copy) copy = co_await parts_.store.find(key(path));
  if (copy && usable(*copy)) co_return Served{std::move(copy), Source::stale, reason};
  co_return Refused{Refusal::unavailable, reason};
}

Task<OriginDocuments::Fetched> OriginDocuments::obtain(RefreshRequest request) {
  const Instant until = parts_.clock.now() + config_.wait_limit;
  bool force = request.force;
  for (int tried = 0; tried < most_tries; ++tried) {
    if (downloads_.breaker_open()) co_return Reason::breaker_open;
    ClaimRequest claim{key(request.path), parts_.owner, config_.claim_ttl, config_.fresh_for, force};
    const ClaimOutcome outcome = co_await parts_.store.claim(std::move(claim));
    if (const auto* acquired = std::get_if<Acquired>(&outcome)) {
      co_return co_await download(std::move(request), acquired->token);
    }
    if (std::holds_alternative<HeldDown>(outcome)) co_return Reason::hold_down;
    if (std::holds_alternative<Downloading>(outcome)) {
      std::optional<Fetched> other = co_await wait_for_other(request.path, until);
      // A download that was under way before a forced request came does not satisfy it; one that began later does.
      const bool too_early = request.force && tried == 0 && parts_.clock.now() < until;
      if (other && !too_early) co_return std::move(*other);
      continue;  // our turn to try
    }
    const int64_t seen_change = known_change_;
    DocumentPtr document = co_await parts_.store.find(key(request.path));
    if (document && usable(*document)) {
      remember(request.path, document, seen_change);
      co_return Served{std::move(document), Source::database};
    }
    force = true;  // what is stored cannot be served
  }
  co_return force && !request.force ? Reason::invalid_content : Reason::download_timeout;
}

Task<OriginDocuments::Fetched> OriginDocuments::download(RefreshRequest request, int64_t token) {
  const DocumentPath path = request.path;
  const bool forced = request.force;
  const int64_t seen_change = known_change_;
  Result<DocumentPtr, Reason> fetched = co_await downloads_.run(std::move(request), token);
  if (!fetched) co_return fetched.error();
  if (forced) outranks_static_.insert(path.text());
  remember(path, *fetched, seen_change);
  co_return Served{std::move(*fetched), Source::origin, std::nullopt, false};
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
    if (state == DownloadState::failed) co_return Fetched(Reason::hold_down);
    const int64_t seen_change = known_change_;
    DocumentPtr document = co_await parts_.store.find(key(path));
    if (!document || !usable(*document) || !fresh(*document)) co_return std::nullopt;
    remember(path, document, seen_change);
    co_return Fetched(Served{std::move(document), Source::database, std::nullopt, false});
  }
  co_return Fetched(Reason::download_timeout);
}

Task<> OriginDocuments::learn_changes() {
  const int64_t last = co_await parts_.store.last_change(config_.name);
  if (last != known_change_) {
    const std::vector<Change> changes = co_await parts_.store.changes_since(config_.name, known_change_);
    for (const Change& change : changes) {
      memory_.erase(change.path);
      if (change.forced) {
        outranks_static_.insert(change.path);
      } else {
        outranks_static_.erase(change.path);
      }
    }
    known_change_ = last;  // some numbers have no row any more
  }
  co_await parts_.clock.sleep_for(learn_every);
}

Task<> OriginDocuments::sweep() {
  co_await parts_.store.sweep();
  co_await parts_.clock.sleep_for(config_.claim_ttl);
}

}  // namespace sluice::documents
