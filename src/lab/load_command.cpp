#include "lab/load_command.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "http/syntax.h"
#include "lab/arguments.h"
#include "lab/commands.h"
#include "lab/documents_load.h"
#include "lab/load_report.h"
#include "lab/load_run.h"

namespace sluice::lab {
namespace {

// As given on the command line, before it is understood.
struct LoadArguments {
  std::vector<std::string> urls;
  std::string method = "GET";
  std::string body;
  std::vector<std::string> headers;
  double rate = 0;
  unsigned connections = 0;
  unsigned threads = 1;
  std::string duration;
  uint64_t requests = 0;
  std::string timeout = "10s";
  std::string reconnect = "1s";
  std::vector<int> accept;
  LoadReporting reporting;
  bool connect_first = false;
  bool sse = false;
  bool allow_remote = false;
};

constexpr unsigned closed_connections = 16;
constexpr unsigned open_connections = 256;

constexpr const char* footer = R"(Examples:
  Each connection sends its next request when it has the answer (closed loop):
    sluice-lab load http://127.0.0.1:8080/healthz --connections 32 --duration 10s
  2000 requests a second, independent of the answers (open loop); latency counts from the scheduled start:
    sluice-lab load http://127.0.0.1:8080/healthz --rate 2000 --duration 30s --json
  3000 readers of the same document at the same moment:
    sluice-lab load http://127.0.0.1:8080/healthz --connections 3000 --requests 3000 --connect-first
  500 clients, each with an open event stream:
    sluice-lab load http://127.0.0.1:8080/events --sse --connections 500 --duration 1m
  The ramp of users over the 39 sample documents (see sluice-lab load documents --help):
    sluice-lab load documents http://127.0.0.1:8080 --short

Exit code: 0 success, 1 more failures than --max-failures allows, 2 invalid arguments.)";

Duration positive(const std::string& option, const std::string& text) {
  const Duration duration = duration_of(option, text);
  if (duration == Duration{0}) wrong(fmt::format("{} must be more than 0", option));
  return duration;
}

std::string body_of(const std::string& argument) {
  if (!argument.starts_with('@')) return argument;
  std::ifstream file(argument.substr(1), std::ios::binary);
  if (!file) wrong(fmt::format("cannot read the file {}", argument.substr(1)));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::pair<std::string, std::string> header_of(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string_view name = std::string_view(text).substr(0, colon);
  if (colon == std::string::npos || !http::is_token(name) || !http::is_field_value(text)) {
    wrong(fmt::format("--header takes \"Name: value\", not {}", text));
  }
  return {std::string(name), std::string(http::trim(std::string_view(text).substr(colon + 1)))};
}

http::Url url_of(const std::string& text) {
  const auto url = http::Url::parse(text);
  if (!url) wrong(fmt::format("{} is not an http URL", text));
  if (url->secure()) wrong("only http:// is supported; measure behind the TLS proxy");
  return *url;
}

LoadOptions understand(const LoadArguments& arguments) {
  LoadOptions options{.urls = {}};
  for (const std::string& url : arguments.urls) options.urls.push_back(url_of(url));
  const auto method = http::parse_method(arguments.method);
  if (!method) wrong(fmt::format("{} is not an HTTP method", arguments.method));
  options.method = *method;
  options.body = body_of(arguments.body);
  for (const std::string& header : arguments.headers) options.headers.push_back(header_of(header));
  if (arguments.rate > 0) options.rate = arguments.rate;
  if (arguments.sse && options.rate) wrong("--sse cannot be combined with --rate");
  options.connections = arguments.connections;
  if (options.connections == 0) options.connections = options.rate ? open_connections : closed_connections;
  options.threads = arguments.threads;
  options.requests = arguments.requests;
  const bool endless = arguments.duration.empty() && options.requests > 0;
  options.duration =
      endless ? Duration{24h} : positive("--duration", arguments.duration.empty() ? "10s" : arguments.duration);
  options.timeout = positive("--timeout", arguments.timeout);
  options.reconnect = positive("--reconnect", arguments.reconnect);
  options.accept = {arguments.accept.begin(), arguments.accept.end()};
  if (arguments.sse && arguments.connect_first) wrong("--sse cannot be combined with --connect-first");
  options.connect_first = arguments.connect_first;
  options.sse = arguments.sse;
  options.allow_remote = arguments.allow_remote;
  return options;
}

void print_progress(const LoadProgress& progress) {
  fmt::print(stderr, "{:>5.0f} s  {} done  {} failed  {} waiting\n",
             static_cast<double>(progress.elapsed.count()) / 1e6, progress.answers, progress.failures,
             progress.backlog);
}

std::vector<CommandOption> options_of(LoadArguments& arguments) {
  std::vector<CommandOption> options{
      {.name = "urls", .value = &arguments.urls, .help = "URLs to request, in rotation"},
      {.name = "--rate",
       .value = &arguments.rate,
       .help = "Requests a second in an open loop",
       .check = positive_number()},
      {.name = "--connections",
       .value = &arguments.connections,
       .help = "Maximum number of connections (16 in a closed loop or with --sse, 256 with --rate)",
       .check = integer_in(1, 1'000'000)},
      {.name = "--threads",
       .value = &arguments.threads,
       .help = "Threads of the generator (1)",
       .check = integer_in(1, 256)},
      {.name = "--duration",
       .value = &arguments.duration,
       .help = "Length of the run (10s, unless --requests is given)"},
      {.name = "--requests",
       .value = &arguments.requests,
       .help = "Total number of requests",
       .check = positive_number()},
      {.name = "--connect-first",
       .value = &arguments.connect_first,
       .help = "Open all connections before the run starts; opening them is not measured"},
      {.name = "--timeout", .value = &arguments.timeout, .help = "Timeout of each request (10s)"},
      {.name = "--method", .value = &arguments.method, .help = "HTTP method: GET, POST, ... (GET)"},
      {.name = "--body", .value = &arguments.body, .help = "Body of each request; @FILE reads it from a file"},
      {.name = "--header", .value = &arguments.headers, .help = "Header field \"Name: value\"; may be repeated"},
      {.name = "--sse", .value = &arguments.sse, .help = "Hold --connections event streams open and count events"},
      {.name = "--reconnect",
       .value = &arguments.reconnect,
       .help = "Time after which an ended stream is opened again (1s)"},
      {.name = "--accept",
       .value = &arguments.accept,
       .help = "Statuses of 400 and above that do not count as failures, such as 404,429",
       .separator = ','}};
  std::ranges::move(reporting_options(arguments.reporting), std::back_inserter(options));
  options.push_back(
      {.name = "--allow-remote", .value = &arguments.allow_remote, .help = "Allow load on other machines"});
  return options;
}

int run(const LoadArguments& arguments) {
  if (arguments.urls.empty()) wrong("give at least one URL, such as http://127.0.0.1:8080/healthz");
  return run_and_report(understand(arguments), arguments.reporting);
}

}  // namespace

int run_and_report(const LoadOptions& options, const LoadReporting& reporting) {
  std::vector<LoadTarget> targets;
  try {
    targets = find_targets(options);
  } catch (const std::runtime_error& error) {
    wrong(error.what());
  }
  const bool show = reporting.progress || isatty(STDERR_FILENO) == 1;
  const LoadResult result = run_load(options, targets, [show](const LoadProgress& progress) {
    if (show) print_progress(progress);
  });
  const std::string report = reporting.json ? json_report(options, result) : text_report(options, result);
  fmt::print("{}", report);
  return failure_ratio(options, result.tally) > reporting.max_failures ? 1 : 0;
}

std::vector<CommandOption> reporting_options(LoadReporting& reporting) {
  return {{.name = "--max-failures",
           .value = &reporting.max_failures,
           .help = "Share of requests that may fail, 0 to 1 (0)",
           .check = number_in(0, 1)},
          {.name = "--json", .value = &reporting.json, .help = "Print the report as JSON"},
          {.name = "--progress",
           .value = &reporting.progress,
           .help = "Print a line each second to standard error, even without a terminal"}};
}

Command load_command() {
  const auto arguments = std::make_shared<LoadArguments>();
  return {.name = "load",
          .help = "Puts load on an HTTP server and reports latency percentiles",
          .footer = footer,
          .options = options_of(*arguments),
          .run = [arguments] { return run(*arguments); },
          .commands = {documents_load_command()}};
}

}  // namespace sluice::lab
