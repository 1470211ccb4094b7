#include "http/server/networks.h"

#include <gtest/gtest.h>

#include "http/server/proxy_protocol.h"

namespace sluice::http {
namespace {

Address ip(const char* text) {
  return boost::asio::ip::make_address(text);
}

TEST(Networks, an_address_is_in_its_network) {
  const Networks networks({"10.0.0.0/8", "192.168.1.128/25", "2001:db8::/33", "203.0.113.7"});
  EXPECT_TRUE(networks.contains(ip("10.255.0.1")));
  EXPECT_TRUE(networks.contains(ip("::ffff:10.1.2.3")));
  EXPECT_TRUE(networks.contains(ip("192.168.1.200")));
  EXPECT_FALSE(networks.contains(ip("192.168.1.127")));
  EXPECT_TRUE(networks.contains(ip("2001:db8:7fff::1")));
  EXPECT_FALSE(networks.contains(ip("2001:db8:8000::1")));
  EXPECT_TRUE(networks.contains(ip("203.0.113.7")));
  EXPECT_FALSE(networks.contains(ip("203.0.113.8")));
  EXPECT_FALSE(Networks().contains(ip("127.0.0.1")));
}

TEST(Networks, what_is_no_network_is_named) {
  for (const char* text : {"", "10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "host", "::/129", "10.0.0.0/8x"}) {
    EXPECT_THROW(Networks({text}), std::invalid_argument) << text;
  }
}

TEST(Forwarding, only_what_trusted_proxies_appended_counts) {
  const Networks trusted({"10.0.0.0/8"});
  Headers headers;
  headers.add("X-Forwarded-For", "1.1.1.1, 6.6.6.6");
  headers.add("X-Forwarded-For", "10.0.0.2");
  headers.add("X-Forwarded-Proto", "https");
  const Client seen = client_of(trusted, {.address = ip("10.0.0.1"), .secure = false}, headers);
  EXPECT_EQ(seen.address, ip("6.6.6.6"));
  EXPECT_TRUE(seen.secure);
  const Client stranger = client_of(trusted, {.address = ip("9.9.9.9"), .secure = false}, headers);
  EXPECT_EQ(stranger.address, ip("9.9.9.9"));
  EXPECT_FALSE(stranger.secure);
}

TEST(Forwarding, nonsense_ends_the_chain) {
  Headers headers;
  headers.add("X-Forwarded-For", "1.1.1.1, unknown, 10.0.0.3");
  const Client seen = client_of(Networks({"10.0.0.0/8"}), {.address = ip("10.0.0.1"), .secure = true}, headers);
  EXPECT_EQ(seen.address, ip("10.0.0.3"));
}

using State = ProxyHeader::State;

TEST(ProxyProtocol, version_1_in_every_piece) {
  const std::string line = "PROXY TCP6 2001:db8::1 2001:db8::2 1 2\r\n";
  for (size_t i = 0; i < line.size(); ++i) {
    EXPECT_EQ(read_proxy_header(line.substr(0, i)).state, State::incomplete) << i;
  }
  const ProxyHeader header = read_proxy_header(line + "GET");
  EXPECT_EQ(header.state, State::complete);
  EXPECT_EQ(header.size, line.size());
  EXPECT_EQ(header.source, ip("2001:db8::1"));
  EXPECT_EQ(read_proxy_header("PROXY UNKNOWN\r\n").source, std::nullopt);
}

TEST(ProxyProtocol, version_2_in_every_piece) {
  std::string block("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0e\xc0\0\x02\x08\xc6\x33\x64\x01\x12\x34\x01\xbb\0\0", 30);
  for (size_t i = 0; i < block.size(); ++i) {
    EXPECT_EQ(read_proxy_header(block.substr(0, i)).state, State::incomplete) << i;
  }
  EXPECT_EQ(read_proxy_header(block).source, ip("192.0.2.8"));
  EXPECT_EQ(read_proxy_header(block).size, 30U);
  block[12] = 0x20;  // LOCAL
  EXPECT_EQ(read_proxy_header(block).state, State::complete);
  EXPECT_EQ(read_proxy_header(block).source, std::nullopt);
  block[12] = 0x31;
  EXPECT_EQ(read_proxy_header(block).state, State::malformed);
}

TEST(ProxyProtocol, anything_else_is_malformed) {
  for (const std::string bytes :
       {"GET / HTTP/1.1\r\n", "PROXY TCP4 ::1 ::2 1 2\r\n", "PROXY TCP4 host\r\n", "PROXY \r\n"}) {
    EXPECT_EQ(read_proxy_header(bytes).state, State::malformed) << bytes;
  }
  EXPECT_EQ(read_proxy_header("PROXY TCP4 " + std::string(200, '1')).state, State::malformed);
}

TEST(Masked, keeps_the_neighbourhood_and_not_the_person) {
  const auto mask = [](const char* text) { return masked(boost::asio::ip::make_address(text)); };
  EXPECT_EQ(mask("203.0.113.77"), "203.0.113.0");
  EXPECT_EQ(mask("::ffff:203.0.113.77"), "203.0.113.0");
  EXPECT_EQ(mask("2001:db8:1:2:3:4:5:6"), "2001:db8:1::");
}

}  // namespace
}  // namespace sluice::http
