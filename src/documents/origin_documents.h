// The documents of one origin: from the nearest copy, else downloaded once.
//
// Whatever needs the database or the origin happens on one executor; identical requests inside the process share one
// flight there, and flights go on when the reader who started one hangs up.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/result.h"
#include "coordination/single_flight.h"
#include "documents/memory_copies.h"
#include "documents/origin_downloads.h"
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
  DocumentPtr in_memory(const DocumentPath& path);

  // The rest is called on the executor.

  // Memory, static file, database and, if `fetch`, the origin.
  Task<Lookup> get(DocumentPath path, bool fetch);
  // Downloads unless a fresh copy is there; with `force` in any case.
  Task<Lookup> refresh(RefreshRequest request);
  Task<bool> purge(DocumentPath path);

  // Learns of changes by other instances and sweeps expired claims, for as long as the scope lasts.
  void start();

  const OriginConfig& config() const { return config_; }

 private:
  using Fetched = Result<Served, Reason>;

  bool fresh(const Document& document) const;
  bool usable(const Document& document) const;
  // Keeps a copy in memory unless a change was learned since it was asked for: it may be older than that change.
  void remember(const DocumentPath& path, DocumentPtr document, int64_t seen_change);
  Task<Lookup> or_from_memory(DocumentPath path, Task<Lookup> asked);
  Task<Lookup> look_up(RefreshRequest request, bool fetch);
  Task<std::optional<Served>> nearest_copy(DocumentPath path, bool must_be_fresh);
  Task<Lookup> fetch_shared(RefreshRequest request);
  Task<Lookup> degrade(DocumentPath path, Reason reason);
  Task<Fetched> obtain(RefreshRequest request);
  Task<std::optional<Fetched>> wait_for_other(DocumentPath path, Instant until);
  Task<Fetched> download(RefreshRequest request, int64_t token);
  Task<> learn_changes();
  Task<> sweep();
  DocumentKey key(const DocumentPath& path) const { return {config_.name, path}; }

  OriginConfig config_;
  OriginParts parts_;
  TaskScope& scope_;
  MemoryCopies memory_;
  OriginDownloads downloads_;
  coordination::SingleFlight<std::optional<Served>> lookups_;  // of copies
  coordination::SingleFlight<Fetched> flights_;                // to the origin
  std::unordered_set<std::string> outranks_static_;
  int64_t known_change_ = 0;
};

}  // namespace sluice::documents
