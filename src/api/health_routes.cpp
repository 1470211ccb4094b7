#include "api/system_routes.h"
#include "base/json_writer.h"
#include "http/problem.h"
#include "runtime/deadline.h"
#include "runtime/metrics.h"
#include "runtime/task_scope.h"

namespace sluice::api {
namespace {

constexpr Duration probe_limit = 2s;

Task<> probe(Clock& clock, const EngineProbe& engine, bool& answers) {
  try {
    Task<> check = engine.check();
    co_await with_deadline(clock, Deadline::after(clock, probe_limit), engine.name, std::move(check));
    answers = true;
  } catch (const EngineUnavailable&) {
    answers = false;
  }
}

// All at once: with every engine down the answer still comes in time for whoever balances the load.
Task<std::deque<bool>> probe_all(Clock& clock, const Readiness& readiness) {
  std::deque<bool> answers(readiness.engines.size(), false);
  TaskScope probes(co_await asio::this_coro::executor);
  for (size_t i = 0; i < readiness.engines.size(); ++i) {
    probes.spawn("probe", probe(clock, readiness.engines[i], answers[i]));
  }
  co_await probes.join();
  co_return answers;
}

Task<http::Response> healthz(Call) {
  co_return http::Response::json(200, R"({"status":"alive"})");
}

Task<http::Response> metrics_text(Call) {
  co_return http::Response::text(200, metrics::expose(), "text/plain; version=0.0.4; charset=utf-8");
}

Task<http::Response> readyz(Clock& clock, const Readiness& readiness) {
  const std::deque<bool> answers = co_await probe_all(clock, readiness);
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

void add_health_routes(Api& api, Clock& clock, const Readiness& readiness) {
  api.add({.pattern = "/healthz",
           .tag = "system",
           .summary = "Whether the process is alive.",
           .answers = {{200, "It is.", R"({"type":"object","properties":{"status":{"const":"alive"}}})"}},
           .action = healthz});
  constexpr std::string_view ready_schema =
      R"({"type":"object","required":["status","engines"],"properties":{)"
      R"("status":{"enum":["ready","not-ready","draining"]},)"
      R"("engines":{"type":"object","additionalProperties":{"enum":["up","down"]}}}})";
  api.add({.pattern = "/readyz",
           .tag = "system",
           .summary = "Whether requests can be served, engine by engine.",
           .answers = {{200, "Every engine that is needed answers.", std::string(ready_schema)},
                       {503, "An engine that is needed does not answer, or the server is stopping.",
                        std::string(ready_schema)}},
           .action = [&clock, &readiness](const Call&) { return readyz(clock, readiness); }});
  api.add({.pattern = "/metrics",
           .tag = "system",
           .summary = "Metrics in Prometheus' text format.",
           .answers = {{200, "All metrics.", R"({"type":"string"})", "text/plain"}},
           .action = metrics_text});
}

}  // namespace sluice::api
