// The documents of one origin: from the nearest copy, else downloaded once.
//
// Whatever needs the database or the origin happens on one executor. Readers wait on their own threads: identical
// requests inside the process share one flight there, and flights go on when the reader who started one hangs up.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "coordination/single_flight.h"
#include "documents/origin_copies.h"
#include "documents/origin_downloads.h"
#include "runtime/metrics.h"
#include "runtime/task_scope.h"

namespace sluice::documents {

enum class Refusal {
  not_found,    // no copy, and not to be fetched
  unavailable,  // no copy, and it cannot be fetched now
};

struct Refused {
  Refusal kind = Refusal::not_found;
  std::optional<Reason> reason{};
};
using Lookup = Result<Served, Refused>;

class OriginDocuments {
 public:
  OriginDocuments(OriginConfig config, OriginParts parts, TaskScope& scope, const Executor& executor);

  // The copy in memory while it is fresh. Safe from any thread; asks nobody.
  std::optional<Served> in_memory(const DocumentPath& path);
  // Keeps its body compressed as well, where there is room. Safe from any thread.
  void keep_gzip(const DocumentPath& path, const DocumentPtr& document, http::SharedBytes gzip) {
    copies_.keep_gzip(path, document, std::move(gzip));
  }

  // Memory, static file, database and, if `fetch`, the origin. From any thread, as is the next.
  Task<Lookup> get(DocumentPath path, bool fetch);
  // Downloads unless a fresh copy is there; with `force` in any case.
  Task<Lookup> refresh(RefreshRequest request);

  // On the executor.
  Task<bool> purge(DocumentPath path) { return copies_.purge(std::move(path)); }
  // Learns of changes by other instances, for as long as the scope lasts. On the executor.
  void start();

  const OriginConfig& config() const { return config_; }

 private:
  using Fetched = Result<Served, Reason>;
  using Looking = std::function<Task<std::optional<Served>>()>;

  // On the reader's thread.
  Task<Lookup> or_without_database(DocumentPath path, Task<Lookup> asked);
  Task<Lookup> look_up(RefreshRequest request, bool fetch);
  Task<std::optional<Served>> look_shared(std::string flight, Looking work);
  Task<Lookup> fetch_shared(RefreshRequest request);
  Task<Lookup> degrade(DocumentPath path, Reason reason);

  // On the executor.
  Task<Fetched> obtain(RefreshRequest request);
  Task<std::optional<Fetched>> wait_for_other(DocumentPath path, Instant until);
  Task<> learn_changes();

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
