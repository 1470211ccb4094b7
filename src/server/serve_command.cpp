#include <csignal>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "server/application.h"
#include "server/commands.h"
#include "server/demo.h"

namespace sluice::server {
namespace {

struct ServeFlags {
  CommonFlags common;
  std::string listen;
  std::string roles;
  bool demo = false;
};

// Every connection is an open file, and shells and service managers often allow 1024 until one asks for more. Returns
// how many connections fit: where they ran out of files first, the idle ones would not make room for others.
size_t allow_open_files(size_t connections) {
  constexpr size_t others = 256;  // engines, listeners, outgoing calls
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return connections;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max >= connections + others) return connections;
  const size_t fitting = std::max<size_t>(limit.rlim_max / 2, limit.rlim_max - std::min(limit.rlim_max, others));
  log::warning("http.max_connections is lowered to fit the limit on open files; raise that limit (ulimit -n)",
               {{"open_files", limit.rlim_max}, {"wanted", connections}, {"max_connections", fitting}});
  return fitting;
}

int serve(const ServeFlags& flags) {
  std::vector<config::Override> overrides;
  if (!flags.listen.empty()) overrides.push_back({"http.listen", flags.listen, "--listen"});
  const auto loaded = settings_or_complain(flags.common, std::move(overrides));
  if (!loaded) return asked_wrongly;
  std::string unknown;
  const auto roles = parse_roles(flags.roles, unknown);
  if (!roles) {
    fmt::print(stderr, "--roles: there is no role {}; `sluice serve --help` lists all\n", unknown);
    return asked_wrongly;
  }
  std::signal(SIGPIPE, SIG_IGN);  // the reader of the log may disconnect and return
  SystemClock clock;
  log::Options log_options = loaded->settings.log;
  log_options.clock = &clock;
  log::start(log_options);
  http::ServerConfig& http = loaded->settings.http;
  http.max_connections = allow_open_files(http.max_connections);
  int code = 0;
  try {
    if (flags.demo) add_demo_origin(loaded->settings);
    Application application(loaded->settings, {*roles, flags.demo});
    application.run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "sluice: {}\n", error.what());
    code = failed;
  }
  log::stop();
  return code;
}

}  // namespace

Command serve_command() {
  const auto flags = std::make_shared<ServeFlags>();
  std::string names;
  for (const ServiceNames& one : services) names += (names.empty() ? "" : ", ") + std::string(one.role);
  return {
      .name = "serve",
      .help = "Run the server",
      .footer = "Example: sluice serve --data ./data --listen 127.0.0.1:8080",
      .options = with_common(
          flags->common,
          {{.name = "--listen", .value = &flags->listen, .help = "HOST:PORT to listen on; port 0 picks a free port"},
           {.name = "--roles",
            .value = &flags->roles,
            .help = "Run only these services, separated by commas: " + names},
           {.name = "--demo", .value = &flags->demo, .help = "Fill an empty installation with demo data"}}),
      .run = [flags] { return serve(*flags); }};
}

}  // namespace sluice::server
