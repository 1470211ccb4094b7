// A simulated origin: serves the sample layouts as slowly and as badly as it is told to, and counts who asks.
//
//   GET /ssgo101/SSGO101F01.xml   one of the 39 layouts; whatever is below /extra/ is a layout too
//   GET /stats, POST /stats/reset
//   GET /settings, PUT /settings  with the settings that are to change
//
// Answers come over bare sockets, because the server engine keeps every promise and this one must not: it stalls,
// breaks off, and notices at once when the other side hangs up, so that what it reports as open really is.
#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "lab/origin_counts.h"
#include "lab/origin_settings.h"
#include "runtime/clock.h"
#include "runtime/task_scope.h"

namespace sluice::lab {

// Belongs to one io_context, run by one thread.
class OriginServer {
 public:
  // `clock` and `random` outlive it.
  OriginServer(asio::io_context& context, OriginSettings settings, Clock& clock, Random& random);

  // Binds, accepts from now on, and returns "http://127.0.0.1:8080". Throws boost::system::system_error.
  std::string start(const asio::ip::tcp::endpoint& at);
  // Hangs up on everybody.
  Task<> close();

 private:
  class Connection;

  Task<> accept();
  Task<> serve(asio::ip::tcp::socket socket);

  OriginSettings settings_;
  OriginCounts counts_;
  Clock& clock_;
  Random& random_;
  asio::ip::tcp::acceptor acceptor_;
  TaskScope scope_;
};

}  // namespace sluice::lab
