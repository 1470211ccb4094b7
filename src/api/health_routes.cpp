#include <deque>
#include <mutex>

#include "api/system_routes.h"
#include "base/json.h"
#include "coordination/single_flight.h"
#include "http/problem.h"
#include "runtime/deadline.h"
#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice::api {
namespace {

constexpr Duration probe_limit = 2s;
constexpr Duration probe_every = 1s;

enum class ProcessState { alive };
constexpr auto enum_names(ProcessState) {
  return std::to_array<EnumName<ProcessState>>({{ProcessState::alive, "alive"}});
}

enum class ServerState { ready, not_ready, draining };
constexpr auto enum_names(ServerState) {
  return std::to_array<EnumName<ServerState>>(
      {{ServerState::ready, "ready"}, {ServerState::not_ready, "not-ready"}, {ServerState::draining, "draining"}});
}

enum class EngineState { up, down };
constexpr auto enum_names(EngineState) {
  return std::to_array<EnumName<EngineState>>({{EngineState::up, "up"}, {EngineState::down, "down"}});
}

struct LivenessAnswer {
  ProcessState status = ProcessState::alive;

  static void describe(json::Object<LivenessAnswer>& object) { object.required("status", &LivenessAnswer::status); }
};

struct ReadinessAnswer {
  ServerState status = ServerState::not_ready;
  std::vector<std::pair<std::string, EngineState>> engines{};

  static void describe(json::Object<ReadinessAnswer>& object) {
    object.required("status", &ReadinessAnswer::status);
    object.required("engines", &ReadinessAnswer::engines);
  }
};

// Whether each engine answers, in the order of `Readiness::engines`.
using Answers = std::shared_ptr<const std::deque<bool>>;

Task<> probe(Clock& clock, const EngineProbe& engine, bool& answers) {
  try {
    Task<> check = engine.check();
    co_await with_deadline(clock, Deadline::after(clock, probe_limit), engine.name, std::move(check));
    answers = true;
  } catch (const EngineUnavailable&) {
    answers = false;
  } catch (const std::exception& error) {
    answers = false;
    log::error("readiness probe failed unexpectedly", {{"engine", engine.name}, {"error", error.what()}});
  }
}

// Asks the engines once a second at most, for all callers on all threads together: any client may ask for the health,
// and that must cost the engines nothing. Safe to share between threads.
class Probes {
 public:
  Probes(Clock& clock, const Readiness& readiness, TaskScope& scope, const Executor& executor)
      : clock_(clock), readiness_(readiness), executor_(executor), asking_(scope, executor) {}

  Task<Answers> answers() {
    if (Answers recent = recent_answers()) co_return recent;
    co_return co_await asking_.run("readiness probes", [this] { return ask(); });
  }

 private:
  Answers recent_answers() {
    const std::lock_guard lock(mutex_);
    return answers_ && clock_.now() < ask_again_ ? answers_ : nullptr;
  }

  // All engines at once: with every one of them down the answer still comes in time for a load balancer.
  Task<Answers> ask() {
    if (Answers recent = recent_answers()) co_return recent;  // of a run that ended after this caller had looked
    const auto found = std::make_shared<std::deque<bool>>(readiness_.engines.size(), false);
    TaskScope probes(executor_);
    for (size_t i = 0; i < found->size(); ++i) {
      probes.spawn("probe", probe(clock_, readiness_.engines[i], (*found)[i]));
    }
    co_await probes.join();
    const std::lock_guard lock(mutex_);
    answers_ = found;
    ask_again_ = clock_.now() + probe_every;
    co_return found;
  }

  Clock& clock_;
  const Readiness& readiness_;
  const Executor executor_;
  coordination::SingleFlight<Answers> asking_;
  std::mutex mutex_;
  Answers answers_;
  Instant ask_again_{};
};

Task<http::Response> healthz(Call) {
  co_return http::Response::json(200, json::encode(LivenessAnswer{}));
}

Task<http::Response> metrics_text(Call) {
  co_return http::Response::text(200, metrics::expose(), "text/plain; version=0.0.4; charset=utf-8");
}

Task<http::Response> readyz(std::shared_ptr<Probes> probes, const Readiness& readiness) {
  const Answers asked = co_await probes->answers();
  const std::deque<bool>& answers = *asked;
  bool ready = !readiness.draining;
  for (size_t i = 0; i < answers.size(); ++i) ready = ready && (answers[i] || !readiness.engines[i].needed);
  ReadinessAnswer answer{.status = readiness.draining ? ServerState::draining
                                   : ready            ? ServerState::ready
                                                      : ServerState::not_ready};
  for (size_t i = 0; i < answers.size(); ++i) {
    answer.engines.emplace_back(readiness.engines[i].name, answers[i] ? EngineState::up : EngineState::down);
  }
  http::Response response = http::Response::json(ready ? 200 : 503, json::encode(answer));
  if (!ready) response.headers.set("Retry-After", "1");
  response.headers.set("Cache-Control", "no-store");
  co_return response;
}

}  // namespace

void add_health_routes(Api& api, Clock& clock, const Readiness& readiness, TaskScope& scope, const Executor& executor) {
  const auto probes = std::make_shared<Probes>(clock, readiness, scope, executor);
  api.add({.pattern = "/healthz",
           .tag = "system",
           .summary = "Reports that the process is alive.",
           .answers = {{200, "The process is alive.", json::output_schema<LivenessAnswer>()}},
           .options = {.always_served = true},
           .action = healthz});
  const std::string ready_schema = json::output_schema<ReadinessAnswer>();
  api.add({.pattern = "/readyz",
           .tag = "system",
           .summary = "Reports whether the server can take requests, and the state of each engine.",
           .answers = {{200, "All required engines are available.", ready_schema},
                       {503, "A required engine is unavailable, or the server is stopping.", ready_schema}},
           .options = {.always_served = true},
           .action = [probes, &readiness](const Call&) { return readyz(probes, readiness); }});
  api.add({.pattern = "/metrics",
           .tag = "system",
           .summary = "Returns metrics in the Prometheus text format.",
           .answers = {{200, "All metrics.", R"({"type":"string"})", "text/plain"}},
           .options = {.always_served = true},
           .action = metrics_text});
}

}  // namespace sluice::api
