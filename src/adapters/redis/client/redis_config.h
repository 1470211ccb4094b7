// How to reach a Redis or a Redis Cluster, and how hard to lean on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "runtime/breaker.h"
#include "runtime/config_fwd.h"
#include "runtime/retry.h"

namespace sluice::redis {

struct Address {
  std::string host;
  uint16_t port = 6379;

  std::string to_string() const;  // "host:port", "[::1]:port"
  auto operator<=>(const Address&) const = default;
};

// A URL taken apart: "redis://host:port/database", "rediss://" with TLS, hosts of a cluster with commas between.
struct Place {
  std::vector<Address> seeds;
  bool tls = false;
  unsigned database = 0;

  // Nothing where `url` is not such a URL.
  static std::optional<Place> parse(std::string_view url);
};

struct RedisConfig {
  std::string url = {};
  // Empty: the server's default user.
  std::string user = {};
  std::string password = {};
  bool cluster = false;
  // PEM; empty: the system's authorities.
  std::string ca_file = {};
  // Shown by CLIENT LIST.
  std::string client_name = "sluice";

  unsigned connections = 1;  // to each node
  Duration connect_timeout = 1s;
  Duration command_timeout = 250ms;
  // Commands that have not been answered; more are refused with Overloaded.
  size_t max_pending = 10'000;
  // A longer reply closes the connection.
  size_t max_reply = 64 << 20;
  Backoff reconnect{.first = 50ms, .factor = 2, .max = 2s};
  BreakerConfig breaker{};

  static void describe(config::Section<RedisConfig>& section);
  void validate(config::Problems& problems) const;

  // Without a URL there is no Redis.
  bool used() const { return !url.empty(); }
};

}  // namespace sluice::redis
