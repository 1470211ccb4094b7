// A transaction's body, run on a connection of its own.
#pragma once

#include "adapters/postgres/connection.h"
#include "adapters/postgres/request.h"
#include "base/random.h"
#include "runtime/clock.h"

namespace sluice::postgres {

// Runs the request's body between BEGIN and COMMIT and answers it. Serialization failures and deadlocks run the body
// again from the start, a few times, after a short jittered pause. If the connection is lost before COMMIT was sent,
// nothing happened (retryable); if it is lost during COMMIT, the outcome is unknown (not retryable).
Task<> run_transaction(Connection& connection, const PostgresConfig& config, Clock& clock, Random& random,
                       std::shared_ptr<Request> request);

}  // namespace sluice::postgres
