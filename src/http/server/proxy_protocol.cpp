#include "http/server/proxy_protocol.h"

#include <algorithm>
#include <cstring>

namespace sluice::http {
namespace {

namespace ip = boost::asio::ip;
using State = ProxyHeader::State;

constexpr std::string_view signature{"\r\n\r\n\0\r\nQUIT\n", 12};
constexpr size_t longest_line = 107;  // of version 1, by its specification

std::string_view next_word(std::string_view& line) {
  const size_t space = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, space);
  line.remove_prefix(std::min(space + 1, line.size()));
  return word;
}

// "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n"
ProxyHeader read_line(std::string_view bytes) {
  const size_t end = bytes.substr(0, longest_line).find("\r\n");
  if (end == std::string_view::npos)
    return {.state = bytes.size() < longest_line ? State::incomplete : State::malformed};
  std::string_view line = bytes.substr(6, end - 6);
  const std::string_view family = next_word(line);
  if (family == "UNKNOWN") return {.state = State::complete, .size = end + 2};
  if (family != "TCP4" && family != "TCP6") return {.state = State::malformed};
  boost::system::error_code bad;
  const Address source = ip::make_address(std::string(next_word(line)), bad);
  if (bad || source.is_v4() != (family == "TCP4")) return {.state = State::malformed};
  return {.state = State::complete, .size = end + 2, .source = source};
}

// Signature, version and command, family, length (big endian), addresses.
ProxyHeader read_block(std::string_view bytes) {
  if (bytes.size() < 16) return {};
  const auto at = [bytes](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const size_t length = static_cast<size_t>(at(14)) << 8 | at(15);
  const unsigned command = at(12) & 15U;
  if (at(12) >> 4 != 2 || command > 1 || 16 + length > proxy_header_limit) return {.state = State::malformed};
  if (bytes.size() < 16 + length) return {};

  ProxyHeader result{.state = State::complete, .size = 16 + length};
  const unsigned family = at(13) >> 4;
  if (command == 0 || (family != 1 && family != 2)) return result;
  if (length < (family == 1 ? 12U : 36U)) return {.state = State::malformed};
  if (family == 1) {
    ip::address_v4::bytes_type address;
    std::memcpy(address.data(), bytes.data() + 16, address.size());
    result.source = ip::address_v4(address);
  } else {
    ip::address_v6::bytes_type address;
    std::memcpy(address.data(), bytes.data() + 16, address.size());
    result.source = ip::address_v6(address);
  }
  return result;
}

}  // namespace

ProxyHeader read_proxy_header(std::string_view bytes) {
  if (bytes.starts_with("PROXY ")) return read_line(bytes);
  if (bytes.starts_with(signature)) return read_block(bytes);
  const bool may_become = std::string_view("PROXY ").starts_with(bytes) || signature.starts_with(bytes);
  return {.state = may_become ? State::incomplete : State::malformed};
}

}  // namespace sluice::http
