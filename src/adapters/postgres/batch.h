// Small statements of many callers, sharing one commit.
#pragma once

#include "adapters/postgres/connection.h"
#include "adapters/postgres/request.h"

namespace sluice::postgres {

// Runs the requests, all reads or all writes, as one pipeline with one sync, and answers each once its outcome is
// certain: none before the commit. If one fails, nothing of the pipeline took effect: the requests before it are run
// again together, the failing one alone, then the rest; so the bad one fails alone and the others share as few commits
// as before. Answers every request, even if the connection breaks.
Task<> run_batch(Connection& connection, const PostgresConfig& config, Requests requests);

}  // namespace sluice::postgres
