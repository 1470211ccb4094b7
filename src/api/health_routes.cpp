#include "api/system_routes.h"
#include "base/json_writer.h"
#include "http/problem.h"
#include "runtime/deadline.h"
#include "runtime/metrics.h"

namespace sluice::api {
namespace {

constexpr Duration probe_limit = 2s;

// Empty when the engine answers, else what it said.
Task<std::string> probe(Clock& clock, const EngineProbe& engine) {
  try {
    Task<> check = engine.check();
    co_await with_deadline(clock, Deadline::after(clock, probe_limit), engine.name, std::move(check));
    co_return "";
  } catch (const EngineUnavailable& error) {
    co_return error.what();
  }
}

Task<http::Response> healthz(Call) {
  co_return http::Response::json(200, R"({"status":"alive"})");
}

Task<http::Response> metrics_text(Call) {
  co_return http::Response::text(200, metrics::expose(), "text/plain; version=0.0.4; charset=utf-8");
}

Task<http::Response> readyz(Clock& clock, const Readiness& readiness) {
  bool ready = !readiness.draining;
  std::string engines;
  json::Writer writer(engines);
  writer.begin_object();
  for (const EngineProbe& engine : readiness.engines) {
    const std::string failure = co_await probe(clock, engine);
    writer.field(engine.name, failure.empty() ? "up" : "down");
    ready = ready && failure.empty();
  }
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
           .answers = {{200, "Every engine answers.", std::string(ready_schema)},
                       {503, "An engine does not answer, or the server is stopping.", std::string(ready_schema)}},
           .action = [&clock, &readiness](const Call&) { return readyz(clock, readiness); }});
  api.add({.pattern = "/metrics",
           .tag = "system",
           .summary = "Metrics in Prometheus' text format.",
           .answers = {{200, "All metrics.", R"({"type":"string"})", "text/plain"}},
           .action = metrics_text});
}

}  // namespace sluice::api
