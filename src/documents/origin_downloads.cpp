#include "documents/origin_downloads.h"

#include "runtime/errors.h"
#include "runtime/log.h"
#include "runtime/task_scope.h"

namespace sluice::documents {
namespace {

// Far more than the strangers' rate lets fail within a hold-down.
constexpr size_t most_stranger_failures = 1000;

// The origin was not asked.
Refused refusal_of(Lane lane, Reason reason) {
  const bool too_many = lane == Lane::strangers && reason == Reason::rate_limit_exceeded;
  return {too_many ? Refusal::too_many : Refusal::unavailable, reason};
}

// The origin's answer is not a document.
Refused refusal_of(Lane lane, FetchError error) {
  switch (error) {
    case FetchError::timeout: return {Refusal::unavailable, Reason::download_timeout};
    case FetchError::missing: return {Refusal::not_found, Reason::origin_error};
    case FetchError::invalid:
    case FetchError::too_large:
      return {lane == Lane::strangers ? Refusal::not_found : Refusal::unavailable, Reason::invalid_content};
    case FetchError::failed:
    case FetchError::throttled:
    case FetchError::refused: break;
  }
  return {Refusal::unavailable, Reason::origin_error};
}

}  // namespace

OriginDownloads::OriginDownloads(const OriginConfig& config, const OriginParts& parts, Executor executor)
    : config_(config),
      parts_(parts),
      executor_(std::move(executor)),
      known_(Lane::known, config, parts, executor_),
      strangers_(Lane::strangers, config, parts, executor_),
      stranger_failures_(parts.clock, config.hold_down, most_stranger_failures) {}

std::optional<Refused> OriginDownloads::why_not(Lane lane, const RefreshRequest& request) {
  if (lane == Lane::strangers && !request.force) {
    std::optional<Refused> failed = stranger_failures_.find(request.path.text());
    if (failed && failed->kind == Refusal::unavailable) failed->reason = Reason::hold_down;
    if (failed) return failed;
  }
  const std::optional<Reason> closed = (lane == Lane::known ? known_ : strangers_).why_closed();
  if (!closed) return std::nullopt;
  return refusal_of(lane, *closed);
}

Task<OriginDownloads::Attempt> OriginDownloads::attempt(Lane lane, RefreshRequest request, bool over_fresh) {
  const DocumentKey wanted = key(request.path);
  DownloadClaim claim{wanted, parts_.owner, config_.claim_ttl, config_.fresh_for};
  claim.over_fresh = over_fresh || request.force;
  claim.during_hold_down = request.force;
  claim.listed = request.listed;
  ClaimOutcome outcome = co_await parts_.store.claim(std::move(claim));
  Attempt attempt{std::move(outcome)};
  const auto* const acquired = std::get_if<Acquired>(&attempt.claim);
  if (acquired == nullptr) co_return attempt;

  TaskScope renewals(executor_);
  renewals.spawn("claim of " + wanted.path.text(), keep_claim(request.path, acquired->token));
  std::exception_ptr error;
  try {
    attempt.fetched = co_await fetch_and_store(lane, std::move(request), acquired->token);
  } catch (...) {
    error = std::current_exception();
  }
  // The claim is given back even while the server stops.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await renewals.close();
  if (error) {
    Task<> aborting = parts_.store.abort(wanted, acquired->token);
    co_await give_back_or_let_expire("a claim", config_.name, std::move(aborting));
    std::rethrow_exception(error);
  }
  co_return attempt;
}

Task<OriginDownloads::Fetched> OriginDownloads::fetch_and_store(Lane lane, RefreshRequest request, int64_t token) {
  OriginLane& way = lane == Lane::known ? known_ : strangers_;
  Result<OriginLane::Answer, Reason> answer = co_await way.visit(request.path, request.traceparent);
  if (!answer) {
    co_await parts_.store.abort(key(request.path), token);
    co_return refusal_of(lane, answer.error());
  }
  if (*answer) co_return co_await store(std::move(request), token, std::move(**answer));
  co_return co_await note_failure(lane, request.path, token, answer->error());
}

Task<Refused> OriginDownloads::note_failure(Lane lane, DocumentPath path, int64_t token, FetchError error) {
  const Refused refused = refusal_of(lane, error);
  if (lane == Lane::known) {
    co_await parts_.store.fail(key(path), token, config_.hold_down, config_.hold_down_max);
  } else {
    stranger_failures_.add(path.text(), refused);
    co_await parts_.store.abort(key(path), token);
  }
  co_return refused;
}

Task<OriginDownloads::Fetched> OriginDownloads::store(RefreshRequest request, int64_t token, DocumentPtr fetched) {
  Document document = *fetched;
  document.case_type = request.case_type;
  document.forced = request.force;
  DocumentPtr stored = co_await parts_.store.complete(key(request.path), token, std::move(document));
  if (!stored) {
    // Another instance took over the expired claim: its document counts, and this one is dropped.
    log::warning("a document arrived after its claim expired",
                 {{"origin", config_.name}, {"path", request.path.text()}});
    co_return Refused{Refusal::unavailable, Reason::download_timeout};
  }
  stranger_failures_.erase(request.path.text());
  co_return stored;
}

Task<> OriginDownloads::keep_claim(DocumentPath path, int64_t token) {
  while (true) {
    co_await parts_.clock.sleep_for(config_.claim_ttl / 3);
    try {
      const bool held = co_await parts_.store.renew(key(path), token, config_.claim_ttl);
      if (!held) co_return;  // complete() will find out and store nothing
    } catch (const EngineUnavailable& error) {
      log::warning("renewing a claim failed", {{"path", path.text()}, {"error", error.what()}});
    }
  }
}

}  // namespace sluice::documents
