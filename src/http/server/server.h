// The HTTP server.
//
//   IoThreads threads;
//   Server server(config, std::move(router), threads, clock);
//   threads.start();
//   server.start();
//   ...
//   server.drain(10s);
//
// Every I/O thread has its own listener on the same port (SO_REUSEPORT); a connection stays on the thread that accepted
// it and its handlers run there. Overload is refused early: a connection above the limit takes the place of the one
// that is idle for the longest time, or is told 503 where none is idle; a request above the limit gets 503 with
// Retry-After.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "http/server/router.h"
#include "http/server/server_config.h"
#include "runtime/clock.h"
#include "runtime/io_threads.h"

namespace sluice::http {

class Server {
 public:
  // `threads` and `clock` outlive the server. Throws std::invalid_argument where the configuration makes no sense.
  Server(ServerConfig config, Router router, IoThreads& threads, Clock& clock);
  // Drains without patience where that was not done.
  ~Server();

  // Binds and starts to accept. Throws std::runtime_error with one sentence that names the fix.
  void start();

  // The port it listens on, also where 0 was asked for.
  uint16_t port() const;
  // "http://127.0.0.1:8080"
  std::string url() const;
  const Router& router() const;

  // Reads the certificate and its key again, for new connections; open ones are not affected. If a file is invalid, the
  // old certificate stays in use. The result is logged. Call outside the running I/O threads.
  void reload_certificate();

  // Stops accepting, closes idle connections, lets requests in flight finish until `patience` is over, then cancels
  // them. Returns when every connection is gone. From outside the I/O threads, which still run. Event streams have
  // their own drain (http/sse/sse.h), to be called before.
  void drain(Duration patience);

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::http
