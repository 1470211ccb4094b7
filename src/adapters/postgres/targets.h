// Where a URL's server may be found.
//
// libpq would look names up itself, blocking its thread while it does. So we look them up first and hand it an address;
// the name still goes along, because a certificate is checked against it.
#pragma once

#include <string>
#include <vector>

#include "runtime/task.h"

namespace sluice::postgres {

// One address to try. Empty fields are left to libpq.
struct Target {
  std::string host;
  std::string address;
  std::string port;
  std::string session{};  // which kind of session there will do
};

// In the order in which to try them: the URL's hosts, each at all of its addresses. Sockets of this machine need no
// address. Where the URL prefers a standby, all of them are asked for that before any other will do. Throws
// ConnectionLost if that leaves nothing to try.
Task<std::vector<Target>> find_targets(std::string url);

}  // namespace sluice::postgres
