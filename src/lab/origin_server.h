// A simulated origin: serves the sample layouts as slowly and as badly as configured, and counts requests.
//
//   GET /ssgo101/SSGO101F01.xml   one of the 39 layouts; every path below /extra/ is a layout too
//   GET /stats, POST /stats/reset
//   GET /settings, PUT /settings  with the settings that are to change
#pragma once

#include <string>

#include "lab/bare_server.h"
#include "lab/origin_counts.h"
#include "lab/origin_settings.h"

namespace sluice::lab {

// Belongs to one io_context, run by one thread.
class OriginServer {
 public:
  // `clock` and `random` outlive it.
  OriginServer(asio::io_context& context, OriginSettings settings, Clock& clock, Random& random);

  // The caller starts and closes it.
  BareServer& sockets() { return server_; }

 private:
  Task<bool> answer(BareConnection& connection);
  Task<bool> answer_document(BareConnection& connection, std::string path);
  Reply manage(const BareConnection& connection);

  OriginSettings settings_;
  OriginCounts counts_;
  Random& random_;
  BareServer server_;
};

}  // namespace sluice::lab
