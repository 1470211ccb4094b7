// Looks up the addresses of an engine's host without blocking one of our threads and without a cache: after a failover
// the name may have other addresses. Calls to other servers use a Resolver (runtime/resolver.h).
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/ip/address.hpp>

#include "runtime/task.h"

namespace sluice {

// The name does not exist, or no name server could be reached.
class HostNotFound : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Every address of `host`, in the order in which the system wants them tried; an address resolves to itself. Throws
// HostNotFound. Takes as long as the system's resolver; a caller with a deadline returns in time, while the lookup,
// which cannot be interrupted, continues in the background.
Task<std::vector<asio::ip::address>> look_up(std::string host);

}  // namespace sluice
