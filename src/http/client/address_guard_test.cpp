#include "http/client/address_guard.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

using boost::asio::ip::make_address;

TEST(AddressGuard, lets_the_public_internet_through) {
  for (const char* text : {"8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.0",
                           "192.167.1.1", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808",
                           "::ffff:8.8.8.8", "2002:808:808::1"}) {
    EXPECT_TRUE(is_public(make_address(text))) << text;
  }
}

TEST(AddressGuard, refuses_every_address_of_its_own_surroundings) {
  for (const char* text :
       {"0.0.0.0",         "0.1.2.3",         "10.0.0.1",       "100.64.0.1",     "100.127.255.255", "127.0.0.1",
        "127.255.255.254", "169.254.169.254", "172.16.0.1",     "172.31.255.255", "192.0.0.8",       "192.0.2.1",
        "192.168.1.1",     "198.18.0.1",      "198.19.255.255", "198.51.100.1",   "203.0.113.9",     "224.0.0.1",
        "239.1.1.1",       "240.0.0.1",       "255.255.255.255"}) {
    EXPECT_FALSE(is_public(make_address(text))) << text;
  }
}

TEST(AddressGuard, refuses_ipv6_that_is_local_or_carries_a_local_address) {
  for (const char* text : {"::",
                           "::1",
                           "::127.0.0.1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.1.2.3",
                           "64:ff9b::a00:1",
                           "64:ff9b:1::808:808",
                           "2002:7f00:1::",
                           "2002:c0a8:101::1",
                           "fe80::1",
                           "fc00::1",
                           "fd12::1",
                           "fec0::1",
                           "ff02::1",
                           "2001:db8::1",
                           "2001::1",
                           "2001:10::1",
                           "3fff::1",
                           "100::1",
                           "4000::1"}) {
    EXPECT_FALSE(is_public(make_address(text))) << text;
  }
}

TEST(AddressGuard, can_be_opened_for_loopback_alone) {
  EXPECT_TRUE(allowed(Reach::public_and_loopback, make_address("127.0.0.1")));
  EXPECT_TRUE(allowed(Reach::public_and_loopback, make_address("::1")));
  EXPECT_FALSE(allowed(Reach::public_and_loopback, make_address("10.0.0.1")));
  EXPECT_FALSE(allowed(Reach::public_and_loopback, make_address("::ffff:127.0.0.1")));
  EXPECT_TRUE(allowed(Reach::anywhere, make_address("10.0.0.1")));
}

}  // namespace
}  // namespace sluice::http
