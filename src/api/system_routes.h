// What every installation answers: is it alive, is it ready, what does it count, what can it do.
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
  // Without it nothing can be served. One that is merely missed is shown as down, but does not take all instances out
  // of service at once: reads go on from what is left.
  bool needed = true;
};

// Shared with whoever stops the server.
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
