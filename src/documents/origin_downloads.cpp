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
      gate_({config.name, config.max_concurrent, config.max_per_second, config.slot_wait, config.timeout + margin},
            parts.slots, parts.clock, parts.random, parts.owner, executor_) {}

Task<OriginDownloads::Fetched> OriginDownloads::run(RefreshRequest request, int64_t token) {
  const DocumentKey claimed = key(request.path);
  TaskScope renewals(executor_);
  renewals.spawn("claim of " + claimed.path.text(), keep_claim(request.path, token));
  std::optional<Fetched> fetched;
  std::exception_ptr error;
  try {
    fetched = co_await ask_origin(std::move(request), token);
  } catch (...) {
    error = std::current_exception();
  }
  // The server may be stopping: what was claimed is given back all the same.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await renewals.close();
  if (error) {
    co_await let_go(claimed, token);
    std::rethrow_exception(error);
  }
  co_return std::move(*fetched);
}

Task<> OriginDownloads::let_go(DocumentKey claimed, int64_t token) {
  try {
    co_await parts_.store.abort(std::move(claimed), token);
  } catch (const EngineUnavailable& error) {
    log::warning("a claim is left to expire", {{"origin", config_.name}, {"error", error.what()}});
  }
}

Task<OriginDownloads::Fetched> OriginDownloads::ask_origin(RefreshRequest request, int64_t token) {
  const DocumentKey claimed = key(request.path);
  const Result<coordination::BreakerPermit, Duration> permit =
      co_await parts_.breaker.ask(breaker_key(), config_.timeout + config_.slot_wait + margin);
  if (!permit) {
    breaker_open_until_ = parts_.clock.now() + std::min(permit.error(), Duration{1s});
    co_await parts_.store.abort(claimed, token);
    co_return Reason::breaker_open;
  }
  std::optional<Answer> answer = co_await visit(request.path, *permit);
  if (!answer) {
    co_await parts_.store.abort(claimed, token);
    co_return Reason::rate_limit_exceeded;
  }
  if (*answer) co_return co_await store_fetched(std::move(request), token, std::move(**answer));

  co_await parts_.store.fail(claimed, token, config_.hold_down, config_.hold_down_max);
  switch (answer->error()) {
    case FetchError::timeout: co_return Reason::download_timeout;
    case FetchError::invalid:
    case FetchError::too_large: co_return Reason::invalid_content;
    case FetchError::failed:
    case FetchError::gone: break;
  }
  co_return Reason::origin_error;
}

// Nothing where no slot was to be had. However it ends, slot and permit are given back.
Task<std::optional<OriginDownloads::Answer>> OriginDownloads::visit(DocumentPath path,
                                                                    coordination::BreakerPermit permit) {
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
  if (answer) {
    const bool healthy = *answer || answer->error() == FetchError::gone;
    co_await gate_.leave(*slot, healthy, std::chrono::ceil<Duration>(parts_.clock.now() - began));
    co_await parts_.breaker.record(breaker_key(), permit, healthy);
    co_return answer;
  }
  if (error) co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  if (slot) co_await gate_.give_up(*slot);
  co_await parts_.breaker.forget(breaker_key(), permit);
  if (error) std::rethrow_exception(error);
  co_return std::nullopt;
}

Task<OriginDownloads::Fetched> OriginDownloads::store_fetched(RefreshRequest request, int64_t token,
                                                              DocumentPtr document) {
  auto stored = std::make_shared<Document>(*document);
  stored->case_type = request.case_type;
  stored->forced = request.force;
  const bool current = co_await parts_.store.complete(key(request.path), token, stored);
  if (!current) {
    // Somebody took the claim over while we were slow: theirs counts, ours is thrown away.
    log::warning("a document came too late", {{"origin", config_.name}, {"path", request.path.text()}});
    co_return Reason::download_timeout;
  }
  co_return DocumentPtr(std::move(stored));
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
