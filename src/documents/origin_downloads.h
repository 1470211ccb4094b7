// Downloads from one origin: the document claimed, the breaker asked, the gate passed, the origin asked once, what came
// stored.
//
// The claim is renewed while its download lasts. However that ends, also when the server stops between two steps,
// claim, slot and permit are given back; what cannot be is left to expire, and the answer counts all the same.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "documents/origin_gate.h"
#include "documents/origin_parts.h"

namespace sluice::documents {

struct RefreshRequest {
  DocumentPath path;
  std::optional<std::string> case_type{};
  bool force = false;
};

// Belongs to one executor. Configuration and parts outlive it.
class OriginDownloads {
 public:
  using Fetched = Result<DocumentPtr, Reason>;
  struct Attempt {
    ClaimOutcome claim;
    std::optional<Fetched> fetched{};  // where the claim was acquired; it has ended then
  };

  OriginDownloads(const OriginConfig& config, const OriginParts& parts, Executor executor);

  // Claims the document, and where that succeeds fetches and stores it. `over_fresh` claims also over a fresh copy; a
  // forced request does, and does not heed a hold-down either.
  Task<Attempt> attempt(RefreshRequest request, bool over_fresh);

  // As it was last seen, a second ago at most: then no claim is worth asking for.
  bool breaker_open() const { return breaker_open_until_ > parts_.clock.now(); }

 private:
  using Answer = Result<DocumentPtr, FetchError>;

  Task<Fetched> fetch_and_store(RefreshRequest request, int64_t token);
  Task<Result<Answer, Reason>> visit(DocumentPath path);
  Task<Fetched> store(RefreshRequest request, int64_t token, DocumentPtr fetched);
  Task<> or_expires(std::string_view what, Task<> giving_back);
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
