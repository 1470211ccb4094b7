// Sets of IP networks, and the client behind a trusted proxy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/address.hpp>

#include "http/message.h"

namespace sluice::http {

using Address = boost::asio::ip::address;

class Networks {
 public:
  // "10.0.0.0/8", "2001:db8::/32", or one address. Throws std::invalid_argument naming the invalid text.
  explicit Networks(const std::vector<std::string>& texts = {});

  // An IPv4 address written as IPv6 ("::ffff:10.0.0.1") is the IPv4 address.
  bool contains(const Address& address) const;
  bool empty() const { return networks_.empty(); }

 private:
  struct Network {
    boost::asio::ip::address_v6::bytes_type bytes;
    unsigned bits;
  };
  std::vector<Network> networks_;
};

struct Client {
  Address address;
  bool secure;
};

// The network of an address, for logs: enough to see the source of load, but not the client ("203.0.113.0",
// "2001:db8:1::").
std::string masked(const Address& address);

// The sender of the request: the peer or, if the peer is trusted, the last address in X-Forwarded-For that is not. A
// client can write anything into that header, so only the entries appended by trusted proxies count.
Client client_of(const Networks& trusted, Client peer, const Headers& headers);

}  // namespace sluice::http
