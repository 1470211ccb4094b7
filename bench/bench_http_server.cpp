// The server that bench/http measures: one thread, the whole engine with its limits, timeouts, metrics and access log.
//
//   bench_http_server ACCESS_LOG
//
// Prints its port and runs until its standard input ends.
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "http/server/server.h"
#include "runtime/log.h"
#include "runtime/system_clock.h"

namespace {

using namespace sluice;

Task<http::Response> get(http::Request&) {
  co_return http::Response::text(200, "hello, world\n");
}

Task<http::Response> post(http::Request& request) {
  co_return http::Response::json(200, std::move(request.body));
}

// Enough routes around the measured ones that finding them is work.
http::Router make_router() {
  http::Router router;
  for (const char* feature : {"accounts", "catalog", "documents", "events", "jobs", "links", "payments", "snapshots"}) {
    const std::string path = std::string("/api/v1/") + feature;
    router.add(http::Method::get, path, get);
    router.add(http::Method::post, path, post);
    router.add(http::Method::get, path + "/{id:uuid}", get);
    router.add(http::Method::get, path + "/{id:uuid}/history", get);
  }
  return router;
}

}  // namespace

int main(int, char** arguments) {
  SystemClock clock;
  const int access_log = ::open(arguments[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  log::start({.descriptor = access_log, .clock = &clock});
  IoThreads threads(1);
  http::ServerConfig config;
  config.port = 0;
  http::Server server(config, make_router(), threads, clock);
  threads.start();
  server.start();
  std::printf("%u\n", server.port());
  std::fflush(stdout);
  char byte;
  while (::read(0, &byte, 1) > 0) {
  }
  server.drain(std::chrono::seconds(1));
  threads.stop();
  log::stop();
}
