#include "documents/origin_downloads.h"

#include "runtime/errors.h"
#include "runtime/log.h"
#include "runtime/task_scope.h"

namespace sluice::documents {
namespace {

// What a download may take beyond the origin's own time limit: storing, giving the slot back.
constexpr Duration margin = 5s;

}  // namespace

OriginDownloads::OriginDownloads(const OriginConfig& config, const OriginParts& parts, Executor executor)
    : config_(config),
      parts_(parts),
      executor_(std::move(executor)),
      gate_({config.name, config.max_concurrent, config.slot_wait, config.timeout + margin}, parts.slots, parts.limit,
            parts.clock, parts.random, parts.owner, executor_) {}

Task<OriginDownloads::Attempt> OriginDownloads::attempt(RefreshRequest request, bool over_fresh) {
  const DocumentKey wanted = key(request.path);
  ClaimRequest claim{wanted, parts_.owner, config_.claim_ttl, config_.fresh_for};
  claim.over_fresh = over_fresh || request.force;
  claim.during_hold_down = request.force;
  ClaimOutcome outcome = co_await parts_.store.claim(std::move(claim));
  Attempt attempt{std::move(outcome)};
  const auto* const acquired = std::get_if<Acquired>(&attempt.claim);
  if (acquired == nullptr) co_return attempt;

  TaskScope renewals(executor_);
  renewals.spawn("claim of " + wanted.path.text(), keep_claim(request.path, acquired->token));
  std::exception_ptr error;
  try {
    attempt.fetched = co_await fetch_and_store(std::move(request), acquired->token);
  } catch (...) {
    error = std::current_exception();
  }
  // The server may be stopping: what was claimed is given back all the same.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await renewals.close();
  if (error) {
    Task<> aborting = parts_.store.abort(wanted, acquired->token);
    co_await or_expires("a claim", std::move(aborting));
    std::rethrow_exception(error);
  }
  co_return attempt;
}

// Everything lent expires by itself, so an engine that is away when it is given back costs nobody their answer.
Task<> OriginDownloads::or_expires(std::string_view what, Task<> giving_back) {
  try {
    co_await std::move(giving_back);
  } catch (const EngineUnavailable& error) {
    log::warning("left to expire", {{"what", what}, {"origin", config_.name}, {"error", error.what()}});
  }
}

Task<OriginDownloads::Fetched> OriginDownloads::fetch_and_store(RefreshRequest request, int64_t token) {
  Result<Answer, Reason> answer = co_await visit(request.path);
  if (!answer) {
    co_await parts_.store.abort(key(request.path), token);
    co_return answer.error();
  }
  if (*answer) co_return co_await store(std::move(request), token, std::move(**answer));

  co_await parts_.store.fail(key(request.path), token, config_.hold_down, config_.hold_down_max);
  switch (answer->error()) {
    case FetchError::timeout: co_return Reason::download_timeout;
    case FetchError::invalid:
    case FetchError::too_large: co_return Reason::invalid_content;
    case FetchError::failed:
    case FetchError::gone: break;
  }
  co_return Reason::origin_error;
}

// What the origin said, or why it was not asked. However it ends, slot and permit are given back.
Task<Result<OriginDownloads::Answer, Reason>> OriginDownloads::visit(DocumentPath path) {
  const Result<coordination::BreakerPermit, Duration> permit =
      co_await parts_.breaker.ask(breaker_key(), config_.timeout + config_.slot_wait + margin);
  if (!permit) {
    breaker_open_until_ = parts_.clock.now() + std::min(permit.error(), Duration{1s});
    co_return Reason::breaker_open;
  }
  std::optional<coordination::Slot> slot;
  std::optional<Answer> answer;
  Instant began{};
  std::exception_ptr error;
  try {
    slot = co_await gate_.enter();
    began = parts_.clock.now();
    if (slot) answer.emplace(co_await parts_.origin.fetch(std::move(path)));
  } catch (...) {
    error = std::current_exception();
  }
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  if (answer) {
    const bool healthy = *answer || answer->error() == FetchError::gone;
    Task<> leaving = gate_.leave(*slot, healthy, std::chrono::ceil<Duration>(parts_.clock.now() - began));
    co_await or_expires("a slot", std::move(leaving));
    Task<> recording = parts_.breaker.record(breaker_key(), *permit, healthy);
    co_await or_expires("a permit", std::move(recording));
    co_return std::move(*answer);
  }
  if (slot) {
    Task<> giving_up = gate_.give_up(*slot);
    co_await or_expires("a slot", std::move(giving_up));
  }
  Task<> forgetting = parts_.breaker.forget(breaker_key(), *permit);
  co_await or_expires("a permit", std::move(forgetting));
  if (error) std::rethrow_exception(error);
  co_return Reason::rate_limit_exceeded;
}

Task<OriginDownloads::Fetched> OriginDownloads::store(RefreshRequest request, int64_t token, DocumentPtr fetched) {
  Document document = *fetched;
  document.case_type = request.case_type;
  document.forced = request.force;
  DocumentPtr stored = co_await parts_.store.complete(key(request.path), token, std::move(document));
  if (!stored) {
    // Somebody took the claim over while we were slow: theirs counts, ours is thrown away.
    log::warning("a document came too late", {{"origin", config_.name}, {"path", request.path.text()}});
    co_return Reason::download_timeout;
  }
  co_return stored;
}

Task<> OriginDownloads::keep_claim(DocumentPath path, int64_t token) {
  while (true) {
    co_await parts_.clock.sleep_for(config_.claim_ttl / 3);
    try {
      const bool held = co_await parts_.store.renew(key(path), token, config_.claim_ttl);
      if (!held) co_return;  // complete() will find out and store nothing
    } catch (const EngineUnavailable& error) {
      log::warning("a claim could not be renewed", {{"path", path.text()}, {"error", error.what()}});
    }
  }
}

}  // namespace sluice::documents
