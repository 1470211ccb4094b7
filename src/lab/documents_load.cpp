#include "lab/documents_load.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "base/json.h"
#include "lab/arguments.h"
#include "lab/load_command.h"
#include "lab/sample_layouts.h"

namespace sluice::lab {
namespace {

struct UserStage {
  Duration duration;
  double share;  // of all users, at its end
};
constexpr std::array<UserStage, 6> stages{
    {{30s, 100.0 / 3000}, {1min, 500.0 / 3000}, {2min, 1000.0 / 3000}, {3min, 1.0}, {5min, 1.0}, {1min, 0.0}}};
constexpr Duration full_length = 12min + 30s;
constexpr Duration short_length = 20s;
constexpr double arrivals_per_user = 0.5;  // a second: they think 2 s on average
constexpr unsigned most_connections = 3000;

Duration scaled(Duration duration, double scale) {
  return Duration{static_cast<int64_t>(static_cast<double>(duration.count()) * scale)};
}

http::Url url_at(const http::Url& server, const std::string& target) {
  const auto url = http::Url::parse(fmt::format("http://{}{}", server.authority(), target));
  if (!url) wrong(target + " is not a valid URL path");
  return *url;
}

// The download of the document that `lookup` asked for.
std::string download_request(const http::Url& lookup, const std::string& key) {
  const std::string target = lookup.target();
  const size_t query = target.find("?path=");
  std::string body;
  json::Writer writer(body);
  writer.begin_object().field("path", std::string_view(target).substr(query + 6)).end_object();
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\n\r\n{}",
      target.substr(0, query), lookup.authority(), key, body.size(), body);
}

struct Arguments {
  std::string url;
  std::string origin = "scourt";
  std::string key;
  double users = 3000;
  double scale = 1;
  bool is_short = false;
  unsigned threads = 1;
  bool allow_remote = false;
  LoadReporting reporting;
};

constexpr const char* footer = R"(Examples:
  The whole ramp, 12 min 30 s, to 3000 users (1500 lookups a second):
    SLUICE_SERVICE_KEY=sk_... sluice-lab load documents http://127.0.0.1:8080
  The same shape in 20 s:
    sluice-lab load documents http://127.0.0.1:8080 --key sk_... --short --json

Latency is counted from when a lookup should have started to the end of the document, its download included.
Exit code: 0 success, 1 more failures than --max-failures allows, 2 invalid arguments.)";

int run(const Arguments& arguments) {
  const auto server = http::Url::parse(arguments.url);
  if (!server || server->secure()) wrong(arguments.url + " is not an http URL");
  DocumentsCrowd crowd{.server = *server,
                       .origin = arguments.origin,
                       .key = arguments.key,
                       .users = arguments.users,
                       .scale = arguments.scale};
  if (arguments.is_short) crowd.scale = static_cast<double>(short_length.count()) / full_length.count();
  LoadOptions options = documents_load(crowd);
  options.threads = arguments.threads;
  options.allow_remote = arguments.allow_remote;
  return run_and_report(options, arguments.reporting);
}

}  // namespace

LoadOptions documents_load(const DocumentsCrowd& crowd) {
  LoadOptions options{.urls = {}};
  for (const SampleLayout& layout : sample_layouts()) {
    options.urls.push_back(
        url_at(crowd.server, fmt::format("/api/v1/documents/{}?path={}", crowd.origin, layout.path)));
  }
  std::vector<RampStage> ramp;
  for (const UserStage& stage : stages) {
    ramp.push_back({scaled(stage.duration, crowd.scale), crowd.users * stage.share * arrivals_per_user});
  }
  options.ramp = Ramp(std::move(ramp));
  options.rate = options.ramp.peak();
  options.duration = options.ramp.duration();
  options.connections = std::min(most_connections, static_cast<unsigned>(crowd.users) + 1);
  if (!crowd.key.empty()) {
    options.follow_up = [key = crowd.key](const http::Url& lookup) { return download_request(lookup, key); };
  }
  return options;
}

Command documents_load_command() {
  const auto arguments = std::make_shared<Arguments>();
  std::vector<CommandOption> options{
      {.name = "url",
       .value = &arguments->url,
       .help = "URL of the server, such as http://127.0.0.1:8080",
       .required = true},
      {.name = "--origin", .value = &arguments->origin, .help = "The origin's name (scourt)"},
      {.name = "--key",
       .value = &arguments->key,
       .help = "API key with role SERVICE, for downloads",
       .variable = "SLUICE_SERVICE_KEY"},
      {.name = "--users", .value = &arguments->users, .help = "Users at the peak (3000)", .check = number_in(1, 1e6)},
      {.name = "--scale",
       .value = &arguments->scale,
       .help = "Factor for the length of all stages (1)",
       .check = positive_number()},
      {.name = "--short", .value = &arguments->is_short, .help = "The same shape in 20 s", .excludes = "--scale"},
      {.name = "--threads",
       .value = &arguments->threads,
       .help = "Threads of the generator (1)",
       .check = integer_in(1, 256)},
      {.name = "--allow-remote", .value = &arguments->allow_remote, .help = "Allow load on other machines"}};
  std::ranges::move(reporting_options(arguments->reporting), std::back_inserter(options));
  return {.name = "documents",
          .help = "The ramp of users over the 39 sample documents, as an open loop",
          .footer = footer,
          .options = std::move(options),
          .run = [arguments] { return run(*arguments); }};
}

}  // namespace sluice::lab
