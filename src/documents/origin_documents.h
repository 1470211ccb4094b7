// The documents of one origin: from the nearest copy, else downloaded once.
//
// Work with the database or the origin happens on one executor. Readers wait on their own threads: identical requests
// inside the process share one flight there, and flights continue when the reader that started one disconnects.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "coordination/single_flight.h"
#include "documents/origin_copies.h"
#include "documents/origin_downloads.h"
#include "runtime/deadline.h"
#include "runtime/metrics.h"
#include "runtime/task_scope.h"

namespace sluice::documents {

using Lookup = Result<Served, Refused>;

class OriginDocuments {
 public:
  OriginDocuments(OriginConfig config, OriginParts parts, TaskScope& scope, const Executor& executor);

  // The copy in memory while it is fresh. Thread-safe; asks neither database nor origin.
  std::optional<Served> in_memory(const DocumentPath& path);
  // The copies in memory and their forms. Safe from any thread.
  MemoryCopies& copies_in_memory() { return copies_.in_memory(); }

  // Memory, static file, database and, if `fetch`, the origin. Near the deadline the best available copy is returned,
  // however old. From any thread, as is the next.
  Task<Lookup> get(DocumentPath path, bool fetch, Deadline deadline = {}, std::string traceparent = {});
  // Downloads unless a fresh copy is there; with `force` in any case.
  Task<Lookup> refresh(RefreshRequest request, Deadline deadline = {});

  // On the executor.
  Task<bool> purge(DocumentPath path) { return copies_.purge(std::move(path)); }
  // Follows changes by other instances and removes unused documents, for as long as the scope lasts. On the executor.
  void start();

  const OriginConfig& config() const { return config_; }

 private:
  using Fetched = Result<Served, Refused>;
  using Looking = std::function<Task<std::optional<Served>>()>;

  // On the reader's thread.
  Task<Lookup> with_fallback(DocumentPath path, Task<Lookup> asked);
  Task<Lookup> look_up(RefreshRequest request, bool fetch, Instant answer_by);
  Task<std::optional<Served>> look_shared(std::string flight, Looking work, Instant answer_by);
  Task<Lookup> fetch_shared(RefreshRequest request, Instant answer_by);
  Task<Lookup> degrade(DocumentPath path, Refused refused, Instant answer_by);

  // On the executor.
  Task<Fetched> obtain(RefreshRequest request);
  Task<Lane> lane_of(RefreshRequest request);
  Task<std::optional<Fetched>> wait_for_other(DocumentPath path, Instant until);
  Task<> learn_changes();
  Task<> forget_unused();

  Duration wait_limit(const RefreshRequest& request) const { return request.wait_limit.value_or(config_.wait_limit); }

  DocumentKey key(const DocumentPath& path) const { return {config_.name, path}; }

  const OriginConfig config_;
  const OriginParts parts_;
  TaskScope& scope_;
  OriginCopies copies_;
  OriginDownloads downloads_;
  coordination::SingleFlight<std::optional<Served>> lookups_;  // of copies
  coordination::SingleFlight<Fetched> flights_;                // to the origin
  metrics::CounterCell& from_memory_;
  metrics::CounterCell& coalesced_;
  metrics::HistogramCell& waits_;
};

}  // namespace sluice::documents
