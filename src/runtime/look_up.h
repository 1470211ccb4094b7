// The addresses of an engine's host, without blocking a thread of ours and always asked anew: after a failover the name
// may lead elsewhere. Calls to other servers use a Resolver (runtime/resolver.h).
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/ip/address.hpp>

#include "runtime/task.h"

namespace sluice {

// There is no such name, or nobody could be asked.
class HostNotFound : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Every address of `host`, in the order in which the system wants them tried; an address is its own. Throws
// HostNotFound. Takes as long as the system's resolver does; a caller with a deadline is let go in time, though the
// search itself, which can't be interrupted, goes on behind its back for a while.
Task<std::vector<asio::ip::address>> look_up(std::string host);

}  // namespace sluice
