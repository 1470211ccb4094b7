#include <memory>

#include "lab/arguments.h"
#include "lab/commands.h"
#include "lab/origin_server.h"
#include "lab/serving.h"
#include "runtime/system_clock.h"

namespace sluice::lab {
namespace {

struct OriginArguments {
  std::string listen = "127.0.0.1:0";
  std::string latency = "0ms";
  std::string jitter = "0ms";
  OriginRates rates;
  size_t size = 0;
  uint64_t seed = 1;
};

constexpr const char* footer = R"(Examples:
  An origin that takes half a second and fails one time in ten:
    sluice-lab origin --listen 127.0.0.1:9000 --latency 500ms --failure-rate 0.1
  It serves the 39 sample layouts, and a layout at every path below /extra/:
    curl http://127.0.0.1:9000/ssgo101/SSGO101F01.xml
  Number of requests, total and at once:
    curl http://127.0.0.1:9000/stats
    curl -X POST http://127.0.0.1:9000/stats/reset
  Make it fail, and recover:
    curl -X PUT http://127.0.0.1:9000/settings -d '{"failureRate": 1}'
    curl -X PUT http://127.0.0.1:9000/settings -d '{"failureRate": 0, "latency": "200ms"}'

Prints `listening on http://HOST:PORT` when it is ready. Exit code: 0 stopped by a signal, 1 cannot listen, 2 invalid
arguments.)";

OriginSettings understand(const OriginArguments& arguments) {
  OriginSettings settings{.latency = duration_of("--latency", arguments.latency),
                          .jitter = duration_of("--jitter", arguments.jitter),
                          .rates = arguments.rates,
                          .size = arguments.size};
  if (const auto fault = settings.fault()) wrong(*fault);
  return settings;
}

int run(const OriginArguments& arguments) {
  const OriginSettings settings = understand(arguments);
  asio::io_context context(1);
  SystemClock clock;
  SeededRandom random(arguments.seed);
  OriginServer server(context, settings, clock, random);
  return serve_until_stopped(context, server.sockets(), arguments.listen);
}

std::vector<CommandOption> options_of(OriginArguments& arguments) {
  const auto rate = [](const char* name, double& value, const char* help) {
    return CommandOption{.name = name, .value = &value, .help = help, .check = number_in(0, 1)};
  };
  return {
      {.name = "--listen",
       .value = &arguments.listen,
       .help = "HOST:PORT to listen on; port 0 picks a free port (127.0.0.1:0)"},
      {.name = "--latency", .value = &arguments.latency, .help = "Delay before each answer (0ms)"},
      {.name = "--jitter", .value = &arguments.jitter, .help = "Random variation of the latency, up and down (0ms)"},
      rate("--failure-rate", arguments.rates.failure, "Share of requests that get status 500, 0 to 1"),
      rate("--html-rate", arguments.rates.html, "Share that get an HTML error page with status 200"),
      rate("--disguised-rate", arguments.rates.disguised, "Share that get an HTML error page declared as XML"),
      rate("--stall-rate", arguments.rates.stall, "Share that never get an answer"),
      rate("--truncate-rate", arguments.rates.truncate, "Share that get half of their Content-Length"),
      {.name = "--size",
       .value = &arguments.size,
       .help = "Minimum size of a layout in bytes",
       .check = integer_in(0, 64 << 20)},
      {.name = "--seed", .value = &arguments.seed, .help = "Seed of the random numbers (1)"}};
}

}  // namespace

Command origin_command() {
  const auto arguments = std::make_shared<OriginArguments>();
  return {.name = "origin",
          .help = "Simulates an origin that can be slow, fail and stall, and counts requests",
          .footer = footer,
          .options = options_of(*arguments),
          .run = [arguments] { return run(*arguments); }};
}

}  // namespace sluice::lab
