// The simulated web: as many sites as there are names, on one port, told apart by the Host header.
//
//   GET  any target, any Host      the page that lab/web_pages.h has there
//   GET  /lab/stats, POST /lab/stats/reset    requests by host, those for robots.txt apart ("host/robots.txt")
#pragma once

#include "lab/bare_server.h"
#include "lab/origin_counts.h"

namespace sluice::lab {

// Belongs to one io_context, run by one thread.
class WebServer {
 public:
  // Every page takes `latency`. `clock` outlives it.
  WebServer(asio::io_context& context, Duration latency, Clock& clock);

  // The caller starts and closes it.
  BareServer& sockets() { return server_; }

 private:
  Task<bool> answer(BareConnection& connection);
  Task<bool> answer_page(BareConnection& connection, std::string host, std::string target);
  Task<bool> send_endless(BareConnection& connection, Reply reply);

  Duration latency_;
  OriginCounts counts_{"byHost"};
  BareServer server_;
};

}  // namespace sluice::lab
