// The documents of one origin: from the nearest copy, else downloaded once.
//
// Whatever needs the database or the origin happens on one executor; identical requests inside the process share one
// flight there, and flights go on when the reader who started one hangs up.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/random.h"
#include "base/result.h"
#include "coordination/shared_breaker.h"
#include "coordination/single_flight.h"
#include "documents/document_store.h"
#include "documents/memory_copies.h"
#include "documents/origin.h"
#include "documents/origin_config.h"
#include "documents/origin_gate.h"
#include "documents/static_copies.h"
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

struct RefreshRequest {
  DocumentPath path;
  std::optional<std::string> case_type{};
  bool force = false;
};

// What an origin's documents are made of; all of it outlives them.
struct OriginParts {
  DocumentStore& store;
  StaticCopies& static_copies;
  Origin& origin;
  coordination::Slots& slots;
  coordination::SharedBreaker& breaker;
  Clock& clock;
  Random& random;
  std::string owner;  // this process, unique
};

class OriginDocuments {
 public:
  OriginDocuments(OriginConfig config, OriginParts parts, TaskScope& scope, Executor executor);

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
  using Answer = Result<DocumentPtr, FetchError>;

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
  Task<Fetched> ask_origin(RefreshRequest request, int64_t token);
  Task<std::optional<Answer>> visit(DocumentPath path, coordination::BreakerPermit permit);
  Task<Fetched> store_fetched(RefreshRequest request, int64_t token, DocumentPtr document);
  Task<> let_go(DocumentKey claimed, int64_t token);
  Task<> keep_claim(DocumentPath path, int64_t token);
  Task<> learn_changes();
  Task<> sweep();
  DocumentKey key(const DocumentPath& path) const { return {config_.name, path}; }
  std::string breaker_key() const { return "origin/" + config_.name; }

  OriginConfig config_;
  OriginParts parts_;
  TaskScope& scope_;
  Executor executor_;
  MemoryCopies memory_;
  OriginGate gate_;
  coordination::SingleFlight<Fetched> flights_;
  std::unordered_set<std::string> outranks_static_;
  int64_t known_change_ = 0;
  Instant breaker_open_until_{};
};

}  // namespace sluice::documents
