#include <deque>
#include <mutex>

#include "api/system_routes.h"
#include "base/json_writer.h"
#include "coordination/single_flight.h"
#include "http/problem.h"
#include "runtime/deadline.h"
#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice::api {
namespace {

constexpr Duration probe_limit = 2s;
constexpr Duration probe_every = 1s;

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
  co_return http::Response::json(200, R"({"status":"alive"})");
}

Task<http::Response> metrics_text(Call) {
  co_return http::Response::text(200, metrics::expose(), "text/plain; version=0.0.4; charset=utf-8");
}

Task<http::Response> readyz(std::shared_ptr<Probes> probes, const Readiness& readiness) {
  const Answers asked = co_await probes->answers();
  const std::deque<bool>& answers = *asked;
  bool ready = !readiness.draining;
  for (size_t i = 0; i < answers.size(); ++i) ready = ready && (answers[i] || !readiness.engines[i].needed);
  std::string engines;
  json::Writer writer(engines);
  writer.begin_object();
  for (size_t i = 0; i < answers.size(); ++i) writer.field(readiness.engines[i].name, answers[i] ? "up" : "down");
  writer.end_object();

  std::string body;
  const std::string_view status = readiness.draining ? "draining" : ready ? "ready" : "not-ready";
  json::Writer(body).begin_object().field("status", status).key("engines").raw(engines).end_object();
  http::Response response = http::Response::json(ready ? 200 : 503, std::move(body));
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
           .answers = {{200, "The process is alive.",
                        R"({"type":"object","required":["status"],"properties":{"status":{"const":"alive"}}})"}},
           .options = {.always_served = true},
           .action = healthz});
  constexpr std::string_view ready_schema =
      R"({"type":"object","required":["status","engines"],"properties":{)"
      R"("status":{"type":"string","enum":["ready","not-ready","draining"]},)"
      R"("engines":{"type":"object","additionalProperties":{"type":"string","enum":["up","down"]}}}})";
  api.add(
      {.pattern = "/readyz",
       .tag = "system",
       .summary = "Reports whether the server can take requests, and the state of each engine.",
       .answers = {{200, "All required engines are available.", std::string(ready_schema)},
                   {503, "A required engine is unavailable, or the server is stopping.", std::string(ready_schema)}},
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
