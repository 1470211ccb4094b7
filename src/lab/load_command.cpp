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
  Every connection asks again as soon as it was answered (closed loop):
    sluice-lab load http://127.0.0.1:8080/healthz --connections 32 --duration 10s
  2000 requests a second whatever the answers do (open loop), latency counted from when each should have started:
    sluice-lab load http://127.0.0.1:8080/healthz --rate 2000 --duration 30s --json
  3000 readers who ask for the same thing at the same moment:
    sluice-lab load http://127.0.0.1:8080/healthz --connections 3000 --requests 3000 --connect-first
  500 clients that hold an event stream open:
    sluice-lab load http://127.0.0.1:8080/events --sse --connections 500 --duration 1m
  The ramp of users over the 39 sample documents (see sluice-lab load documents --help):
    sluice-lab load documents http://127.0.0.1:8080 --short

Exit code: 0 well, 1 more failed than --max-failures allows, 2 asked wrongly.)";

Duration positive(const std::string& option, const std::string& text) {
  const Duration duration = duration_of(option, text);
  if (duration == Duration{0}) wrong(fmt::format("{} must be more than nothing", option));
  return duration;
}

std::string body_of(const std::string& argument) {
  if (!argument.starts_with('@')) return argument;
  std::ifstream file(argument.substr(1), std::ios::binary);
  if (!file) wrong(fmt::format("the file {} can't be read", argument.substr(1)));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::pair<std::string, std::string> header_of(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string_view name = std::string_view(text).substr(0, colon);
  if (colon == std::string::npos || !http::is_token(name) || !http::is_field_value(text)) {
    wrong(fmt::format("a header is written \"Name: value\", not {}", text));
  }
  return {std::string(name), std::string(http::trim(std::string_view(text).substr(colon + 1)))};
}

http::Url url_of(const std::string& text) {
  const auto url = http::Url::parse(text);
  if (!url) wrong(fmt::format("{} is no http URL", text));
  if (url->secure()) wrong("only http:// is supported: measure behind what ends TLS");
  return *url;
}

LoadOptions understand(const LoadArguments& arguments) {
  LoadOptions options{.urls = {}};
  for (const std::string& url : arguments.urls) options.urls.push_back(url_of(url));
  const auto method = http::parse_method(arguments.method);
  if (!method) wrong(fmt::format("{} is no method", arguments.method));
  options.method = *method;
  options.body = body_of(arguments.body);
  for (const std::string& header : arguments.headers) options.headers.push_back(header_of(header));
  if (arguments.rate > 0) options.rate = arguments.rate;
  if (arguments.sse && options.rate) wrong("--sse holds streams open; it has no --rate");
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
  if (arguments.sse && arguments.connect_first)
    wrong("--connect-first is for requests; --sse opens its streams slowly");
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
      {.name = "urls", .value = &arguments.urls, .help = "What to ask for, in rotation"},
      {.name = "--rate",
       .value = &arguments.rate,
       .help = "Requests a second in an open loop",
       .check = positive_number()},
      {.name = "--connections",
       .value = &arguments.connections,
       .help = "At most so many at once (16 in a closed loop or of --sse, 256 with --rate)",
       .check = integer_in(1, 1'000'000)},
      {.name = "--threads", .value = &arguments.threads, .help = "Of the generator", .check = integer_in(1, 256)},
      {.name = "--duration", .value = &arguments.duration, .help = "How long (10s, unless --requests is given)"},
      {.name = "--requests", .value = &arguments.requests, .help = "How many in all", .check = positive_number()},
      {.name = "--connect-first",
       .value = &arguments.connect_first,
       .help = "Open all connections, then start together: what opening them costs is not counted"},
      {.name = "--timeout", .value = &arguments.timeout, .help = "For each request (10s)"},
      {.name = "--method", .value = &arguments.method, .help = "GET, POST, ..."},
      {.name = "--body", .value = &arguments.body, .help = "Of each request; @FILE reads it from a file"},
      {.name = "--header", .value = &arguments.headers, .help = "\"Name: value\", any number of times"},
      {.name = "--sse", .value = &arguments.sse, .help = "Hold --connections event streams open and count events"},
      {.name = "--reconnect",
       .value = &arguments.reconnect,
       .help = "How long after its end a stream is opened again (1s)"},
      {.name = "--accept",
       .value = &arguments.accept,
       .help = "Statuses from 400 up that are no failures, as 404,429",
       .separator = ','}};
  std::ranges::move(reporting_options(arguments.reporting), std::back_inserter(options));
  options.push_back({.name = "--allow-remote",
                     .value = &arguments.allow_remote,
                     .help = "Also put load on other machines than this one"});
  return options;
}

int run(const LoadArguments& arguments) {
  if (arguments.urls.empty()) wrong("say what to ask for, as http://127.0.0.1:8080/healthz");
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
           .help = "The share of requests that may fail, 0 to 1 (0)",
           .check = number_in(0, 1)},
          {.name = "--json", .value = &reporting.json, .help = "The report as JSON"},
          {.name = "--progress",
           .value = &reporting.progress,
           .help = "A line each second on standard error, also without a terminal"}};
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
