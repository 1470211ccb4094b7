// The PROXY protocol, versions 1 and 2: the client's address as reported by a load balancer.
#pragma once

#include <optional>
#include <string_view>

#include "http/server/networks.h"

namespace sluice::http {

struct ProxyHeader {
  enum class State { incomplete, complete, malformed };
  State state = State::incomplete;
  size_t size = 0;                  // bytes it took, when complete
  std::optional<Address> source{};  // nothing for health checks of the proxy itself (LOCAL, UNKNOWN)
};

// Looks at the beginning of a connection. Never asks for more than `proxy_header_limit` bytes.
inline constexpr size_t proxy_header_limit = 16 + 512;
ProxyHeader read_proxy_header(std::string_view bytes);

}  // namespace sluice::http
