// Downloads from one origin: claims the document, passes a lane to the origin, and stores the result.
//
// The claim is renewed during its download. However that ends, even if the server stops between two steps, everything
// acquired is released; if releasing fails it expires, and the answer still counts.
//
// A failure of a known document is kept in its row. A stranger leaves nothing in the database unless there is a
// document to store: its claim ends with the download, and failures are remembered in memory.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "documents/origin_lane.h"
#include "documents/origin_parts.h"
#include "documents/stranger_failures.h"

namespace sluice::documents {

struct RefreshRequest {
  DocumentPath path;
  std::optional<std::string> case_type{};
  bool force = false;
  std::string traceparent{};             // of the request that asks; passed on to the origin
  bool listed = false;                   // by the operator: known without a copy
  std::optional<Duration> wait_limit{};  // instead of the origin's
};

// Belongs to one executor. Configuration and parts outlive it.
class OriginDownloads {
 public:
  using Fetched = Result<DocumentPtr, Refused>;
  struct Attempt {
    ClaimOutcome claim;
    std::optional<Fetched> fetched{};  // where the claim was acquired; it has ended then
  };

  OriginDownloads(const OriginConfig& config, const OriginParts& parts, Executor executor);

  // Claims the document, and where that succeeds fetches and stores it. `over_fresh` claims also over a fresh copy; a
  // forced request does, and does not heed a hold-down either.
  Task<Attempt> attempt(Lane lane, RefreshRequest request, bool over_fresh);

  // Why an attempt would fail at once, without a claim. A stranger that just failed is not tried again, unless forced.
  std::optional<Refused> why_not(Lane lane, const RefreshRequest& request);

 private:
  Task<Fetched> fetch_and_store(Lane lane, RefreshRequest request, int64_t token);
  Task<Refused> note_failure(Lane lane, DocumentPath path, int64_t token, FetchError error);
  Task<Fetched> store(RefreshRequest request, int64_t token, DocumentPtr fetched);
  Task<> keep_claim(DocumentPath path, int64_t token);
  DocumentKey key(const DocumentPath& path) const { return {config_.name, path}; }

  const OriginConfig& config_;
  const OriginParts& parts_;
  Executor executor_;
  OriginLane known_;
  OriginLane strangers_;
  StrangerFailures stranger_failures_;
};

}  // namespace sluice::documents
