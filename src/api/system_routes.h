// Routes of every installation: liveness, readiness, metrics, API description.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/api.h"
#include "runtime/clock.h"
#include "runtime/task_scope.h"

namespace sluice::api {

// An engine this process uses. `check` throws when it does not answer.
struct EngineProbe {
  std::string name;
  std::function<Task<>()> check;
  // The server cannot work without a needed engine. If another engine is down, it is reported but the instance stays in
  // service: reads continue from the remaining engines.
  bool needed = true;
};

// Shared with the code that stops the server.
struct Readiness {
  std::vector<EngineProbe> engines;
  std::atomic<bool> draining{false};
};

// /healthz, /readyz, /metrics. `clock` and `readiness` outlive the server. Engines are asked on `executor`, which
// `scope` belongs to, once a second at most for all callers together.
void add_health_routes(Api& api, Clock& clock, const Readiness& readiness, TaskScope& scope, const Executor& executor);

// /openapi.json, /docs and the home page. Added last: they tell of everything added before them, and of themselves.
void add_docs_routes(Api& api, std::string version);

}  // namespace sluice::api
