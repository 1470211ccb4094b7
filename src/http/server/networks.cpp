#include "http/server/networks.h"

#include <charconv>
#include <stdexcept>

#include "http/syntax.h"

namespace sluice::http {
namespace {

namespace ip = boost::asio::ip;

ip::address_v6::bytes_type widened(const Address& address) {
  if (address.is_v6()) return address.to_v6().to_bytes();
  return ip::make_address_v6(ip::v4_mapped, address.to_v4()).to_bytes();
}

}  // namespace

Networks::Networks(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const size_t slash = std::min(text.find('/'), text.size());
    boost::system::error_code bad;
    const Address address = ip::make_address(text.substr(0, slash), bad);
    const unsigned width = address.is_v4() ? 32 : 128;
    unsigned bits = width;
    if (slash < text.size()) {
      const char* const end = text.data() + text.size();
      const auto [last, failure] = std::from_chars(text.data() + slash + 1, end, bits);
      if (failure != std::errc{} || last != end || bits > width) bad = boost::asio::error::invalid_argument;
    }
    if (bad) throw std::invalid_argument("'" + text + "' is not an address or a network such as 10.0.0.0/8");
    networks_.push_back({.bytes = widened(address), .bits = address.is_v4() ? bits + 96 : bits});
  }
}

bool Networks::contains(const Address& address) const {
  if (networks_.empty()) return false;
  const auto bytes = widened(address);
  return std::ranges::any_of(networks_, [&bytes](const Network& network) {
    const unsigned whole = network.bits / 8;
    const unsigned left = network.bits % 8;
    if (!std::equal(bytes.begin(), bytes.begin() + whole, network.bytes.begin())) return false;
    return left == 0 || ((bytes[whole] ^ network.bytes[whole]) >> (8 - left)) == 0;
  });
}

Client client_of(const Networks& trusted, Client peer, const Headers& headers) {
  if (!trusted.contains(peer.address)) return peer;
  const std::string_view scheme = trim(headers.get("X-Forwarded-Proto"));
  if (!scheme.empty()) peer.secure = equal_ignoring_case(scheme, "https");

  // Several fields are one list, in their order; it is read from its end.
  std::string list;
  for (const Headers::Field field : headers) {
    if (!equal_ignoring_case(field.name, "X-Forwarded-For")) continue;
    if (!list.empty()) list += ',';
    list += field.value;
  }
  std::string_view rest = list;
  while (!rest.empty() && trusted.contains(peer.address)) {
    const size_t comma = rest.rfind(',');
    const std::string_view last = trim(comma == std::string_view::npos ? rest : rest.substr(comma + 1));
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(0, comma);
    boost::system::error_code bad;
    const Address address = ip::make_address(std::string(last), bad);
    if (bad) break;
    peer.address = address;
  }
  return peer;
}

std::string masked(const Address& address) {
  if (address.is_v4()) {
    auto bytes = address.to_v4().to_bytes();
    bytes[3] = 0;
    return asio::ip::address_v4(bytes).to_string();
  }
  if (address.to_v6().is_v4_mapped()) return masked(asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()));
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + 6, bytes.end(), uint8_t{0});
  return asio::ip::address_v6(bytes).to_string();
}

}  // namespace sluice::http
