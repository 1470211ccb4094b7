// How the commands that simulate a server run it.
#pragma once

#include <string>

#include "lab/bare_server.h"

namespace sluice::lab {

// Listens at HOST:PORT, prints `listening on http://HOST:PORT`, and serves on this thread until SIGTERM or SIGINT. The
// exit code: 0, or 1 if it cannot listen. Ends the command if `listen` is invalid.
int serve_until_stopped(asio::io_context& context, BareServer& server, const std::string& listen);

}  // namespace sluice::lab
