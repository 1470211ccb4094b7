#include "http/server_config.h"

#include <charconv>
#include <stdexcept>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "http/networks.h"
#include "http/sse.h"
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
  section.bytes("max_head", &C::max_head, "Of a request's head; 431 above.").between(kib(1), mib(1));
  section.bytes("max_target", &C::max_target, "Of a request's path and query; 414 above.").at_least({64});
  section.key("max_headers", &C::max_headers, "Header fields of a request; 431 above.").at_least(1);
  section
      .key("head_timeout", &C::head_timeout,
           "From a head's first byte to its last; 408 after. A new connection has the same time for its first byte.")
      .at_least(1ms);
  section
      .key("body_timeout", &C::body_timeout,
           "For a body, and a second more for every min_body_rate that came; 408 after. Only the time counts in which "
           "the server waits for the client.")
      .at_least(1ms);
  section
      .key("body_idle_timeout", &C::body_idle_timeout,
           "For the next byte of a body, however many came before; 408 after.")
      .at_least(1ms);
  section.bytes("min_body_rate", &C::min_body_rate, "What a client must send in a second.").at_least({1});
  section.key("idle_timeout", &C::idle_timeout, "Between requests of a connection; closed after.").at_least(1ms);
  section
      .key("write_timeout", &C::write_timeout,
           "For an answer to be read; who keeps reading min_write_rate gets it again, others are closed.")
      .at_least(1ms);
  section.bytes("min_write_rate", &C::min_write_rate, "What a client must read in a second.").at_least({1});
  section
      .key("max_connections", &C::max_connections,
           "When a further client connects, the connection that is idle for the longest time is closed; if none is "
           "idle, the client is told 503.")
      .at_least(1);
  section.key("max_connections_per_address", &C::max_connections_per_address,
              "Connections of one client: an IPv4 address or an IPv6 /64, behind the PROXY protocol the real one. More "
              "are told 503 and closed; 0 is no limit.");
  section
      .bytes("body_memory", &C::body_memory,
             "Memory of all request bodies together; 503 where too little is left for a further one.")
      .at_least(mib(1));
  section
      .key("max_in_flight", &C::max_in_flight,
           "Requests whose handlers run at once; more get 503. Health routes are not counted.")
      .at_least(1);
}

}  // namespace

void ServerConfig::describe(config::Section<ServerConfig>& section) {
  using C = ServerConfig;
  section.text("listen", listen_text, set_listen, "HOST:PORT with an IP address or localhost, such as \"0.0.0.0:8080\"",
               "Where to listen, as HOST:PORT; port 0 picks one.");
  section.key("tls_certificate", &C::tls_certificate, "PEM file with the certificate and its chain; empty is no TLS.");
  section.key("tls_key", &C::tls_key, "PEM file with the certificate's key.");
  describe_limits(section);
  constexpr const char* networks = "a list of addresses or networks such as [\"10.0.0.0/8\"]";
  section.key("trusted_proxies", &C::trusted_proxies, "Who is believed in X-Forwarded-For and X-Forwarded-Proto.")
      .rule(networks, are_networks);
  section.key("proxy_protocol_from", &C::proxy_protocol_from, "Whose connections begin with a PROXY protocol header.")
      .rule(networks, are_networks);
  section.key("cors_origins", &C::cors_origins, "Whose pages may call from a browser; \"*\" is all.");
  section.key("access_log", &C::access_log, "Whether every request is a line in the log.");
  section.bytes("compress_from", &C::compress_from, "Answers smaller than this are not compressed.");
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
  section.key("heartbeat", &SseConfig::heartbeat, "How often a silent stream shows that it is alive.").at_least(1s);
  section.bytes("max_unsent", &SseConfig::max_unsent, "A subscriber who is this far behind is dropped.")
      .at_least(kib(1));
  section
      .bytes("max_pending", &SseConfig::max_pending,
             "Events that a thread has yet to send; whoever would miss one above that is told to reconnect.")
      .at_least(kib(64));
  section.key("retry", &SseConfig::retry, "How long browsers wait before they come back.");
}

}  // namespace sluice::http
