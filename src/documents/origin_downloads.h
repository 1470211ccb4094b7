// Downloads from one origin: the breaker asked, the gate passed, the origin asked once, what came stored.
//
// Whoever acquired a claim runs its download here. The claim is renewed while it lasts; however it ends, also when the
// server stops, claim, slot and permit are given back.
#pragma once

#include <optional>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "coordination/shared_breaker.h"
#include "documents/document_store.h"
#include "documents/origin.h"
#include "documents/origin_config.h"
#include "documents/origin_gate.h"
#include "documents/static_copies.h"

namespace sluice::documents {

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

// Belongs to one executor. Configuration and parts outlive it.
class OriginDownloads {
 public:
  using Fetched = Result<DocumentPtr, Reason>;

  OriginDownloads(const OriginConfig& config, const OriginParts& parts, Executor executor);

  // Fetches and stores the document under the claim of `token`, and ends the claim.
  Task<Fetched> run(RefreshRequest request, int64_t token);

  // As it was last seen, a second ago at most: then no claim is worth asking for.
  bool breaker_open() const { return breaker_open_until_ > parts_.clock.now(); }

 private:
  using Answer = Result<DocumentPtr, FetchError>;

  Task<Fetched> ask_origin(RefreshRequest request, int64_t token);
  Task<std::optional<Answer>> visit(DocumentPath path, coordination::BreakerPermit permit);
  Task<Fetched> store_fetched(RefreshRequest request, int64_t token, DocumentPtr document);
  Task<> let_go(DocumentKey claimed, int64_t token);
  Task<> keep_claim(DocumentPath path, int64_t token);
  DocumentKey key(const DocumentPath& path) const { return {config_.name, path}; }
  std::string breaker_key() const { return "origin/" + config_.name; }

  const OriginConfig& config_;
  const OriginParts& parts_;
  Executor executor_;
  OriginGate gate_;
  Instant breaker_open_until_{};
};

}  // namespace sluice::documents
