// The parts of an origin's documents.
#pragma once

#include <string>

#include "base/random.h"
#include "coordination/shared_breaker.h"
#include "coordination/shared_limit.h"
#include "coordination/slots.h"
#include "documents/document_store.h"
#include "documents/origin.h"
#include "documents/origin_config.h"
#include "documents/static_copies.h"
#include "runtime/clock.h"

namespace sluice::documents {

// All of it outlives them.
struct OriginParts {
  DocumentStore& store;
  StaticCopies& static_copies;
  Origin& origin;
  coordination::Slots& slots;
  coordination::SharedLimit& limit;  // as rate_plan says
  coordination::SharedBreaker& breaker;
  Clock& clock;
  Random& random;
  std::string owner;  // this process, unique
};

}  // namespace sluice::documents
