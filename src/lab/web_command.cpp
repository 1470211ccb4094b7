#include <memory>

#include "lab/arguments.h"
#include "lab/commands.h"
#include "lab/serving.h"
#include "lab/web_server.h"
#include "runtime/system_clock.h"

namespace sluice::lab {
namespace {

struct WebArguments {
  std::string listen = "127.0.0.1:0";
  std::string latency = "0ms";
};

constexpr const char* footer = R"(Example: sluice-lab web --listen 127.0.0.1:9000
Every name is a site and every path a page with a title of its own:
    curl -H 'Host: news.test' http://127.0.0.1:9000/articles/1
The first label of a name selects the behavior of a site:
    closed         its robots.txt forbids everything (other sites': /private/ but for /private/open)
    norobots       has no robots.txt; brokenrobots: 500 for robots.txt
    forbidden      403 on every page; down: 503
    captcha        answers with a captcha; stall: never answers
The path selects a behavior on every site:
    /euc-kr/header, /euc-kr/meta, /euc-kr/none    Korean in EUC-KR, declared there or not at all
    /redirect/3    three redirects; /loop: for ever; /to?URL: to anywhere
    /to-private, /to-metadata, /to-file           redirects that must not be followed
    /status/410, /captcha, /stall, /endless (a page without end), /broken (half of one), /picture
With `links.allow_loopback = true` Sluice finds the names below .test here: http://news.test:9000/articles/1
Number of requests to each site, total and at once:
    curl http://127.0.0.1:9000/lab/stats
    curl -X POST http://127.0.0.1:9000/lab/stats/reset

Prints `listening on http://HOST:PORT` when it is ready. Exit code: 0 stopped by a signal, 1 cannot listen, 2 invalid
arguments.)";

int run(const WebArguments& arguments) {
  const Duration latency = duration_of("--latency", arguments.latency);
  asio::io_context context(1);
  SystemClock clock;
  WebServer server(context, latency, clock);
  return serve_until_stopped(context, server.sockets(), arguments.listen);
}

}  // namespace

Command web_command() {
  const auto arguments = std::make_shared<WebArguments>();
  return {.name = "web",
          .help = "Simulates web sites: polite, hostile, slow and endless",
          .footer = footer,
          .options = {{.name = "--listen",
                       .value = &arguments->listen,
                       .help = "HOST:PORT to listen on; port 0 picks a free port (127.0.0.1:0)"},
                      {.name = "--latency", .value = &arguments->latency, .help = "Delay before each answer (0ms)"}},
          .run = [arguments] { return run(*arguments); }};
}

}  // namespace sluice::lab
