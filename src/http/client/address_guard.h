// Which addresses an outgoing call may reach.
//
// A server that fetches URLs of strangers must not give them access to its own network. A name is checked after it was
// resolved, on every hop, and the connection goes to exactly the address that was checked.
#pragma once

#include <boost/asio/ip/address.hpp>

namespace sluice::http {

enum class Reach {
  public_only,          // addresses of the public internet
  public_and_loopback,  // for tests of users of public_only; names below .test, which DNS never has, lead to
                        // loopback
  anywhere,             // for calls to where the operator said
};

// Neither loopback, private, link-local, shared (CGNAT), multicast, documentation, benchmarking, reserved nor
// unspecified; an IPv6 address that carries an IPv4 one (mapped, NAT64, 6to4) is as public as that one.
bool is_public(const boost::asio::ip::address& address);

bool allowed(Reach reach, const boost::asio::ip::address& address);

}  // namespace sluice::http
