#include "lab/origin_command.h"

#include <csignal>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>

#include "lab/arguments.h"
#include "lab/origin_server.h"
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
  It serves the 39 sample layouts, and whatever is asked for below /extra/:
    curl http://127.0.0.1:9000/ssgo101/SSGO101F01.xml
  How often it was asked, and by how many at once:
    curl http://127.0.0.1:9000/stats
    curl -X POST http://127.0.0.1:9000/stats/reset
  It falls over, and recovers:
    curl -X PUT http://127.0.0.1:9000/settings -d '{"failureRate": 1}'
    curl -X PUT http://127.0.0.1:9000/settings -d '{"failureRate": 0, "latency": "200ms"}'

Prints `listening on http://HOST:PORT` once it does. Exit code: 0 when told to stop, 1 it can't listen, 2 asked wrongly.)";

asio::ip::tcp::endpoint endpoint_of(const std::string& listen) {
  const size_t colon = listen.rfind(':');
  std::string host = listen.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  boost::system::error_code bad;
  const auto address = asio::ip::make_address(host, bad);
  unsigned port = 0;
  if (bad || colon == std::string::npos || !CLI::detail::lexical_cast(listen.substr(colon + 1), port) || port > 65535) {
    wrong(fmt::format("--listen takes HOST:PORT, as 127.0.0.1:0, not {}", listen));
  }
  return {address, static_cast<uint16_t>(port)};
}

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
  const asio::ip::tcp::endpoint at = endpoint_of(arguments.listen);
  asio::io_context context(1);
  SystemClock clock;
  SeededRandom random(arguments.seed);
  OriginServer server(context, settings, clock, random);
  try {
    fmt::print("listening on {}\n", server.start(at));
  } catch (const boost::system::system_error& error) {
    fmt::print(stderr, "sluice-lab: can't listen on {}: {}\n", arguments.listen, error.code().message());
    return 1;
  }
  std::fflush(stdout);
  asio::signal_set signals(context, SIGTERM, SIGINT);
  signals.async_wait([&](const boost::system::error_code&, int) {
    asio::co_spawn(context, server.close(), [&context](const std::exception_ptr&) { context.stop(); });
  });
  context.run();
  return 0;
}

void describe(CLI::App& command, OriginArguments& arguments) {
  const auto rate = [&command](const char* option, double& value, const char* about) {
    command.add_option(option, value, about)->check(CLI::Range(0.0, 1.0));
  };
  command.add_option("--listen", arguments.listen, "HOST:PORT; port 0 picks one (127.0.0.1:0)");
  command.add_option("--latency", arguments.latency, "Before each answer (0ms)");
  command.add_option("--jitter", arguments.jitter, "The latency varies by so much, up and down (0ms)");
  rate("--failure-rate", arguments.rates.failure, "The share of requests that get 500, 0 to 1");
  rate("--html-rate", arguments.rates.html, "That get an HTML error page with status 200");
  rate("--disguised-rate", arguments.rates.disguised, "The same, but the page says that it is XML");
  rate("--stall-rate", arguments.rates.stall, "That never get an answer");
  rate("--truncate-rate", arguments.rates.truncate, "That get half of what Content-Length promises");
  command.add_option("--size", arguments.size, "Fill layouts up to so many bytes")->check(CLI::Range(0, 64 << 20));
  command.add_option("--seed", arguments.seed, "Of chance; the same seed, the same fates (1)");
  command.footer(footer);
}

}  // namespace

void add_origin_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("origin", "Simulates an origin: slow, failing, stalling, and counting");
  const auto arguments = std::make_shared<OriginArguments>();
  describe(*command, *arguments);
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace sluice::lab
