// One lane to an origin: breaker, gate and one request.
//
// Known documents and strangers have a lane each (Lane in documents/origin_config.h). A lane learns only from its own
// requests, so invented paths neither open the breaker of known documents nor shrink their slots.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "documents/origin_gate.h"
#include "documents/origin_parts.h"

namespace sluice::documents {

// Everything acquired expires by itself, so a failure to release it is only logged and does not affect the answer.
Task<> give_back_or_let_expire(std::string what, std::string origin, Task<> giving_back);

// Belongs to one executor. Configuration and parts outlive it.
class OriginLane {
 public:
  using Answer = Result<DocumentPtr, FetchError>;

  OriginLane(Lane lane, const OriginConfig& config, const OriginParts& parts, const Executor& executor);

  // Why a visit would be refused at once: the breaker was open a moment ago, or the line is too long. No claim is worth
  // asking for then.
  std::optional<Reason> why_closed() const;

  // The origin's answer, or why it was not asked. Slot and permit are released in any case.
  Task<Result<Answer, Reason>> visit(DocumentPath path, std::string traceparent);

 private:
  bool is_healthy(const Answer& answer) const;
  Task<> leave(coordination::Slot slot, coordination::BreakerPermit permit, bool healthy, Duration took);

  const Lane lane_;
  const OriginConfig& config_;
  const OriginParts& parts_;
  const std::string breaker_key_;
  OriginGate gate_;
  Instant breaker_open_until_{};
};

}  // namespace sluice::documents
