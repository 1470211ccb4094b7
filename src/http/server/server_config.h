// Settings of the HTTP server. Every limit has a value; no action of a client is unbounded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "runtime/config_fwd.h"

namespace sluice::http {

struct ServerConfig {
  std::string host = "127.0.0.1";  // an IP address, or "localhost"
  uint16_t port = 8080;            // 0 picks one

  // TLS is on when both are set (PEM files).
  std::string tls_certificate{};
  std::string tls_key{};

  size_t max_head = 16 << 10;   // 431
  size_t max_target = 8 << 10;  // 414
  size_t max_headers = 100;     // 431
  // From a head's first byte to its last: 408. Also for the first byte of a new connection: closed.
  Duration head_timeout = 10s;
  // Only time spent waiting for the client counts for a body.
  Duration body_timeout = 30s;       // and a second more for every `min_body_rate` bytes that came: 408
  Duration body_idle_timeout = 10s;  // for the next byte: 408
  size_t min_body_rate = 16 << 10;
  Duration idle_timeout = 75s;      // between requests: closed
  Duration write_timeout = 30s;     // for an answer, and again as long as `min_write_rate` was read meanwhile: closed
  size_t min_write_rate = 1 << 10;  // bytes in a second

  size_t max_connections = 10'000;         // above, the longest idle one is closed; where none is idle: 503
  size_t max_connections_per_address = 0;  // 0: no limit; 503 and closed above
  size_t body_memory = 256 << 20;          // of all bodies that are kept whole, as they arrive; 503 where none is left
  size_t max_in_flight = 5'000;            // requests being handled; more get 503

  // Proxies whose X-Forwarded-For and -Proto are trusted, as addresses or networks ("10.0.0.0/8").
  std::vector<std::string> trusted_proxies{};
  // Peers that begin every connection with a PROXY protocol header (version 1 or 2); others must not.
  std::vector<std::string> proxy_protocol_from{};

  // Pages of these origins may call us from a browser; "*" for all.
  std::vector<std::string> cors_origins{};

  bool access_log = true;
  size_t compress_from = 1024;   // bytes
  Duration tick = 20ms;          // how exact timeouts are; few at a time, so that a burst of them delays no request
  Duration lingering_time = 2s;  // for a client to take note that we close
  Duration hang_up_check = 1s;   // how often a GET that takes longer is looked after, whether its client is still there

  static void describe(config::Section<ServerConfig>& section);
  void validate(config::Problems& problems) const;
};

}  // namespace sluice::http
