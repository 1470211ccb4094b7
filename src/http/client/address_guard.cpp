#include "http/client/address_guard.h"

namespace sluice::http {
namespace {

using boost::asio::ip::address;
using boost::asio::ip::address_v6;

struct Block {
  uint32_t base;
  int bits;
};

constexpr uint32_t ip(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

// IANA's special-purpose registry: everything that is not globally reachable.
constexpr std::array<Block, 16> not_public{{
    {ip(0, 0, 0, 0), 8},       // this network
    {ip(10, 0, 0, 0), 8},      // private
    {ip(100, 64, 0, 0), 10},   // shared by carriers
    {ip(127, 0, 0, 0), 8},     // loopback
    {ip(169, 254, 0, 0), 16},  // link-local, and clouds' metadata
    {ip(172, 16, 0, 0), 12},   // private
    {ip(192, 0, 0, 0), 24},    // protocol assignments
    {ip(192, 0, 2, 0), 24},    // documentation
    {ip(192, 31, 196, 0), 24},
    {ip(192, 88, 99, 0), 24},   // 6to4 relays
    {ip(192, 168, 0, 0), 16},   // private
    {ip(198, 18, 0, 0), 15},    // benchmarking
    {ip(198, 51, 100, 0), 24},  // documentation
    {ip(203, 0, 113, 0), 24},   // documentation
    {ip(224, 0, 0, 0), 4},      // multicast
    {ip(240, 0, 0, 0), 4},      // reserved, broadcast
}};

bool is_public_v4(uint32_t bits) {
  return std::ranges::none_of(
      not_public, [bits](const Block& block) { return bits >> (32 - block.bits) == block.base >> (32 - block.bits); });
}

uint32_t v4_at(const address_v6::bytes_type& bytes, size_t at) {
  return ip(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
}

bool begins_with(const address_v6::bytes_type& bytes, std::initializer_list<uint8_t> prefix) {
  return std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

bool is_public_v6(const address_v6& v6) {
  const auto bytes = v6.to_bytes();
  if (begins_with(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff})) return is_public_v4(v4_at(bytes, 12));  // mapped
  if (begins_with(bytes, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}))
    return is_public_v4(v4_at(bytes, 12));                                       // NAT64
  if (begins_with(bytes, {0x20, 0x02})) return is_public_v4(v4_at(bytes, 2));    // 6to4
  if (begins_with(bytes, {0x20, 0x01, 0x0d, 0xb8})) return false;                // documentation
  if (begins_with(bytes, {0x20, 0x01}) && bytes[2] < 2) return false;            // Teredo, ORCHID, benchmarking
  if (begins_with(bytes, {0x3f, 0xff}) && (bytes[2] & 0xf0) == 0) return false;  // documentation
  return (bytes[0] & 0xe0) == 0x20;  // global unicast; all else is loopback, local, multicast or not handed out
}

}  // namespace

bool is_public(const address& address) {
  return address.is_v4() ? is_public_v4(address.to_v4().to_uint()) : is_public_v6(address.to_v6());
}

bool allowed(Reach reach, const address& address) {
  switch (reach) {
    case Reach::anywhere: return true;
    case Reach::public_and_loopback: return address.is_loopback() || is_public(address);
    case Reach::public_only: return is_public(address);
  }
  return false;
}

}  // namespace sluice::http
