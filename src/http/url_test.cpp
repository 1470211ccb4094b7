#include "http/url.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

TEST(PercentDecode, reads_what_encode_writes) {
  const std::string text = "a b/ü?%\n~";
  EXPECT_EQ(percent_decode(percent_encode(text)), text);
  EXPECT_EQ(percent_encode("a b/c", "/"), "a%20b/c");
}

TEST(PercentDecode, refuses_a_percent_sign_without_two_digits) {
  for (const std::string_view bad : {"%", "%4", "a%4g", "%%20", "%-1"}) EXPECT_FALSE(percent_decode(bad)) << bad;
}

TEST(PercentDecode, takes_plus_for_a_space_only_in_queries) {
  EXPECT_EQ(percent_decode("a+b"), "a+b");
  EXPECT_EQ(percent_decode("a+b", true), "a b");
}

TEST(ParseQuery, keeps_order_repeats_and_empty_values) {
  using Params = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(parse_query("a=1&b=x%20y&a=&c&&d=p=q"),
            (Params{{"a", "1"}, {"b", "x y"}, {"a", ""}, {"c", ""}, {"d", "p=q"}}));
  EXPECT_EQ(parse_query(""), Params{});
  EXPECT_FALSE(parse_query("a=%zz"));
}

std::string written(std::string_view text) {
  const auto url = Url::parse(text);
  return url ? url->to_string() : "refused";
}

TEST(Url, is_written_in_one_form) {
  EXPECT_EQ(written("HTTP://Example.COM"), "http://example.com/");
  EXPECT_EQ(written("https://example.com:443/a/../b/./c?x=1#part"), "https://example.com/b/c?x=1");
  EXPECT_EQ(written("http://example.com:8080?x"), "http://example.com:8080/?x");
  EXPECT_EQ(written("http://[2001:DB8:0::1]:81/"), "http://[2001:db8::1]:81/");
  EXPECT_EQ(written("http://a/../../b/.."), "http://a/");
}

TEST(Url, gives_its_parts) {
  const auto url = Url::parse("https://[2001:db8::1]:8443/a%20b?q=1");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->secure());
  EXPECT_EQ(url->host(), "2001:db8::1");
  EXPECT_EQ(url->port(), 8443);
  EXPECT_EQ(url->target(), "/a%20b?q=1");
  EXPECT_EQ(url->authority(), "[2001:db8::1]:8443");
}

TEST(Url, refuses_what_is_not_plainly_an_address) {
  for (const std::string_view bad : {"",
                                     "example.com",
                                     "ftp://example.com/",
                                     "http://",
                                     "http:///a",
                                     "http://user@host/",
                                     "http://u:p@host/",
                                     "http://host:0/",
                                     "http://host:65536/",
                                     "http://host:8a/",
                                     "http://ho st/",
                                     "http://host/a b",
                                     "http://höst/",
                                     "http://host/\n",
                                     "http://host/%zz",
                                     "http://[::1",
                                     "http://[::1]x/",
                                     "http://[fe80::1%25eth0]/",
                                     "http://a..b/",
                                     "http://.a/",
                                     "http://h%6fst/",
                                     "http://host/a\\b",
                                     "http://host\\@evil/",
                                     "javascript:alert(1)"}) {
    EXPECT_EQ(written(bad), "refused") << bad;
  }
}

TEST(Url, refuses_addresses_that_only_some_programs_understand) {
  for (const std::string_view bad : {"http://2130706433/", "http://127.1/", "http://0x7f.0.0.1/", "http://0177.0.0.01/",
                                     "http://0x7f000001/", "http://1.2.3.4.5/", "http://256.1.1.1/"}) {
    EXPECT_EQ(written(bad), "refused") << bad;
  }
  EXPECT_EQ(written("http://127.0.0.1/"), "http://127.0.0.1/");
  EXPECT_EQ(written(std::string_view("http://[::1\0]/", 14)), "refused");
}

// The examples of RFC 3986, section 5.4, as far as they lead to http.
TEST(Url, resolves_references_as_the_rfc_shows) {
  const auto base = Url::parse("http://a/b/c/d;p?q");
  ASSERT_TRUE(base);
  const std::vector<std::pair<std::string_view, std::string_view>> examples{
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g/"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q"},
      {"g#s", "http://a/b/c/g"},
      {";x", "http://a/b/c/;x"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"..g", "http://a/b/c/..g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
      {"https://x:1/y", "https://x:1/y"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
  };
  for (const auto& [reference, expected] : examples) {
    const auto url = base->resolve(reference);
    EXPECT_EQ(url ? url->to_string() : "refused", expected) << reference;
  }
}

TEST(Url, resolves_to_nothing_outside_http) {
  const auto base = Url::parse("http://a/b");
  ASSERT_TRUE(base);
  for (const std::string_view bad : {"mailto:x@y", "javascript:alert(1)", "//u@h/", "/a b", "file:///etc/passwd"}) {
    EXPECT_FALSE(base->resolve(bad)) << bad;
  }
}

TEST(Url, encodes_raw_bytes_in_a_reference) {
  const auto url = Url::parse("http://a/")->resolve("/ü");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->target(), "/%C3%BC");
}

TEST(Url, tells_hosts_apart) {
  const auto a = Url::parse("http://example.com/a");
  EXPECT_TRUE(a->same_host(*Url::parse("https://EXAMPLE.com:444/b")));
  EXPECT_FALSE(a->same_host(*Url::parse("http://www.example.com/a")));
}

}  // namespace
}  // namespace sluice::http
