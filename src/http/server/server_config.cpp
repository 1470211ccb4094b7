#include "http/server/server_config.h"

#include <charconv>
#include <stdexcept>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "http/server/networks.h"
#include "http/sse/sse.h"
#include "runtime/config_section.h"

namespace sluice::http {
namespace {

std::string listen_text(const ServerConfig& config) {
  const bool v6 = config.host.contains(':');
  return fmt::format(fmt::runtime(v6 ? "[{}]:{}" : "{}:{}"), config.host, config.port);
}

bool set_listen(ServerConfig& config, const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  std::string host = text.substr(0, colon);
  const std::string port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  boost::system::error_code bad_address;
  boost::asio::ip::make_address(host, bad_address);
  if (bad_address && host != "localhost") return false;
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc{} || end != port.data() + port.size()) return false;
  config.host = std::move(host);
  config.port = number;
  return true;
}

bool are_networks(const std::vector<std::string>& texts) {
  try {
    [[maybe_unused]] const Networks networks(texts);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

void describe_limits(config::Section<ServerConfig>& section) {
  using C = ServerConfig;
  section.bytes("max_head", &C::max_head, "Limit on the size of a request's head; a larger one gets 431.")
      .between(kib(1), mib(1));
  section
      .bytes("max_target", &C::max_target, "Limit on the length of a request's path and query; a longer one gets 414.")
      .at_least({64});
  section.key("max_headers", &C::max_headers, "Limit on the number of header fields; more get 431.").at_least(1);
  section
      .key("head_timeout", &C::head_timeout,
           "Time for a request's head, from its first byte to its last; then 408. Also the time a new "
           "connection has for its first byte.")
      .at_least(1ms);
  section
      .key("body_timeout", &C::body_timeout,
           "Time for a body, extended by one second for each min_body_rate bytes received; then 408. Only time "
           "spent waiting for the client counts.")
      .at_least(1ms);
  section.key("body_idle_timeout", &C::body_idle_timeout, "Time to wait for the next byte of a body; then 408.")
      .at_least(1ms);
  section.bytes("min_body_rate", &C::min_body_rate, "Bytes of a body that a client must send per second.")
      .at_least({1});
  section.key("idle_timeout", &C::idle_timeout, "Time between two requests of a connection; then it is closed.")
      .at_least(1ms);
  section
      .key("write_timeout", &C::write_timeout,
           "Time for a client to read a response; extended while it reads at min_write_rate, otherwise the "
           "connection is closed.")
      .at_least(1ms);
  section.bytes("min_write_rate", &C::min_write_rate, "Bytes of a response that a client must read per second.")
      .at_least({1});
  section
      .key("max_connections", &C::max_connections,
           "Limit on open connections. A new connection replaces the one that has been idle longest; if none is "
           "idle, it gets 503.")
      .at_least(1);
  section.key("max_connections_per_address", &C::max_connections_per_address,
              "Limit on connections per client (an IPv4 address or an IPv6 /64; behind the PROXY protocol, the "
              "client's own). More get 503; 0 means no limit.");
  section
      .bytes("body_memory", &C::body_memory,
             "Memory for all request bodies together; a request that does not fit gets 503.")
      .at_least(mib(1));
  section
      .key("max_in_flight", &C::max_in_flight,
           "Limit on requests handled at once; more get 503. Health routes do not count.")
      .at_least(1);
}

}  // namespace

void ServerConfig::describe(config::Section<ServerConfig>& section) {
  using C = ServerConfig;
  section.text("listen", listen_text, set_listen, "HOST:PORT with an IP address or localhost, such as \"0.0.0.0:8080\"",
               "Address to listen on, as HOST:PORT; port 0 selects a free port.");
  section.key("tls_certificate", &C::tls_certificate,
              "PEM file with the certificate and its chain; empty disables TLS.");
  section.key("tls_key", &C::tls_key, "PEM file with the certificate's private key.");
  describe_limits(section);
  constexpr const char* networks = "a list of addresses or networks such as [\"10.0.0.0/8\"]";
  section
      .key("trusted_proxies", &C::trusted_proxies, "Proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted.")
      .rule(networks, are_networks);
  section
      .key("proxy_protocol_from", &C::proxy_protocol_from,
           "Proxies whose connections start with a PROXY protocol header.")
      .rule(networks, are_networks);
  section.key("cors_origins", &C::cors_origins,
              "Origins whose pages may call the API from a browser; \"*\" allows all.");
  section.key("access_log", &C::access_log, "Log every request.");
  section.bytes("compress_from", &C::compress_from, "Responses smaller than this are not compressed.");
}

void ServerConfig::validate(config::Problems& problems) const {
  if (!tls_certificate.empty() && tls_key.empty())
    problems.add("tls_key", "is missing; TLS needs it beside tls_certificate");
  if (tls_certificate.empty() && !tls_key.empty())
    problems.add("tls_certificate", "is missing; TLS needs it beside tls_key");
  if (max_target > max_head)
    problems.add("max_target", "must not be larger than max_head, of which it is a part; lower it");
}

void SseConfig::describe(config::Section<SseConfig>& section) {
  section.key("heartbeat", &SseConfig::heartbeat, "Interval between heartbeats on an idle stream.").at_least(1s);
  section
      .bytes("max_unsent", &SseConfig::max_unsent,
             "Limit on unsent events of a subscriber; a slower one is disconnected.")
      .at_least(kib(1));
  section
      .bytes("max_pending", &SseConfig::max_pending,
             "Limit on events waiting in a thread; above it, the affected subscribers are told to reconnect.")
      .at_least(kib(64));
  section.key("retry", &SseConfig::retry, "Time that browsers wait before they reconnect.");
}

}  // namespace sluice::http
