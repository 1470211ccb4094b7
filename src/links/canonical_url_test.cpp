#include "links/canonical_url.h"

#include <gtest/gtest.h>

#include "http/url.h"

namespace sluice::links {
namespace {

std::string canonical(std::string_view text) {
  const auto url = CanonicalUrl::parse(text);
  return url ? url->text() : std::string(enum_name(url.error()));
}

TEST(CanonicalUrl, has_one_spelling_of_scheme_host_and_port) {
  EXPECT_EQ(canonical("HTTPS://Example.COM:443"), "https://example.com/");
  EXPECT_EQ(canonical("http://example.com:80/a"), "http://example.com/a");
  EXPECT_EQ(canonical("http://example.com:8080/a"), "http://example.com:8080/a");
  EXPECT_EQ(canonical("http://example.com./a"), "http://example.com/a");
  EXPECT_EQ(canonical("http://[2001:DB8:0::1]/"), "http://[2001:db8::1]/");
  EXPECT_EQ(canonical("http://EXAMPLE%2ecom/"), "http://example.com/");
}

TEST(CanonicalUrl, writes_a_name_beyond_ascii_as_punycode) {
  EXPECT_EQ(canonical("http://한국.kr/"), "http://xn--3e0b707e.kr/");
  EXPECT_EQ(canonical("http://XN--3E0B707E.kr/"), "http://xn--3e0b707e.kr/");
  EXPECT_EQ(canonical("http://BÜCHER.example/"), "http://xn--bcher-kva.example/");
  EXPECT_EQ(canonical("http://%ED%95%9C%EA%B5%AD.kr/"), "http://xn--3e0b707e.kr/");
  EXPECT_EQ(canonical("http://faß.de/"), "http://xn--fa-hia.de/");
  EXPECT_EQ(canonical("http://한국。kr/"), "http://xn--3e0b707e.kr/");
}

TEST(CanonicalUrl, drops_the_fragment_and_what_tracks) {
  EXPECT_EQ(canonical("http://a.kr/p?utm_source=x&UTM_Medium=y&id=3&gclid=1&fbclid=2#top"), "http://a.kr/p?id=3");
  EXPECT_EQ(canonical("http://a.kr/p?utm_source=x"), "http://a.kr/p");
  EXPECT_EQ(canonical("http://a.kr/p?utm%5Fsource=x"), "http://a.kr/p");
  EXPECT_EQ(canonical("http://a.kr/p?"), "http://a.kr/p");
  EXPECT_EQ(canonical("http://a.kr/p?utm=x"), "http://a.kr/p?utm=x");
}

TEST(CanonicalUrl, sorts_the_query_and_keeps_the_order_of_equal_names) {
  EXPECT_EQ(canonical("http://a.kr/?b=2&a=2&&a=1&c"), "http://a.kr/?a=2&a=1&b=2&c");
  EXPECT_EQ(canonical("http://a.kr/?x=1?y"), "http://a.kr/?x=1?y");
}

TEST(CanonicalUrl, normalises_the_path) {
  EXPECT_EQ(canonical("http://a.kr/x/../y/./z"), "http://a.kr/y/z");
  EXPECT_EQ(canonical("http://a.kr/x/%2e%2E/y"), "http://a.kr/y");
  EXPECT_EQ(canonical("http://a.kr/%7euser/%e2%82%ac"), "http://a.kr/~user/%E2%82%AC");
  EXPECT_EQ(canonical("http://a.kr\\x\\y"), "http://a.kr/x/y");
  EXPECT_EQ(canonical("http://a.kr/a%2Fb"), "http://a.kr/a%2Fb");
}

TEST(CanonicalUrl, reads_what_browsers_let_pass) {
  EXPECT_EQ(canonical("  http://a.kr/a b\n "), "http://a.kr/a%20b");
  EXPECT_EQ(canonical("http://a.kr/100%"), "http://a.kr/100%25");
  EXPECT_EQ(canonical("http://a.kr/%zz?q=%"), "http://a.kr/%25zz?q=%25");
  EXPECT_EQ(canonical("http://a.kr/위키?q={\"a\"|[1]}"), "http://a.kr/%EC%9C%84%ED%82%A4?q=%7B%22a%22%7C%5B1%5D%7D");
  EXPECT_EQ(canonical("ht\ntp://a.kr/\tx"), "http://a.kr/x");
}

TEST(CanonicalUrl, says_why_there_is_none) {
  for (const std::string_view text : {"javascript:alert(1)", "data:text/html,x", "chrome://settings", "file:///etc",
                                      "about:blank", "mailto:a@b.kr", "ftp://a.kr/", "place:sort=8"}) {
    EXPECT_EQ(canonical(text), "other-scheme") << text;
  }
  for (const std::string_view text : {"", " ", "a.kr", "/path", "http", "http:", "http:a.kr", "한글://a"}) {
    EXPECT_EQ(canonical(text), "not-absolute") << text;
  }
  for (const std::string_view text :
       {"http://", "http:///a", "http://a b/", "http://a..b/", "http://a:99999/", "http://a%2Fb/", "http://127.1/",
        "http://0x7f000001/", "http://[::1/", "http://\xff.kr/"}) {
    EXPECT_EQ(canonical(text), "bad-host") << text;
  }
  EXPECT_EQ(canonical("https://user:secret@a.kr/"), "credentials");
  EXPECT_EQ(canonical("http://a.kr/" + std::string(9000, 'x')), "too-long");
  EXPECT_EQ(canonical("http://a.kr/" + std::string(4000, ' ') + "x"), "too-long");  // once it is escaped
}

TEST(CanonicalUrl, gives_the_host_as_its_domain) {
  EXPECT_EQ(CanonicalUrl::parse("https://WWW.한국.kr:8443/x")->domain(), "www.xn--3e0b707e.kr");
}

TEST(CanonicalUrl, has_the_same_id_wherever_it_is_computed) {
  const auto url = CanonicalUrl::parse("http://example.com/");
  EXPECT_EQ(url->id(), CanonicalUrl::parse("HTTP://example.com?utm_id=7")->id());
  EXPECT_NE(url->id(), CanonicalUrl::parse("https://example.com/")->id());
  EXPECT_EQ(url->id().text(), "2a1b4024-20ef-8657-b471-cdc7409b0fa2");
}

// Pieces in every order: canonical text stays the same, and is a strict URL.
TEST(CanonicalUrl, does_not_change_when_it_is_read_again) {
  constexpr auto pieces = std::to_array<std::string_view>({"http://", "HTTPS:\\\\", "a.kr",  "한국.kr", "xn--3e0b707e",
                                                           "[::1]",   ":80",        ":443",  "/",       "\\",
                                                           "..",      ".",          "%2e",   "%",       "%4",
                                                           "1",       "%25",        "é",     "\xff",    "?",
                                                           "&",       "=",          "utm_x", "b",       "a",
                                                           "#",       " ",          "\t",    "+",       "%2B",
                                                           "@",       "｡",          "／"});
  SeededRandom random(7);
  size_t accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string text = i % 2 == 0 ? "http://a.kr" : "http://";
    for (uint64_t n = random.below(8); n > 0; --n) text += pieces[random.below(pieces.size())];
    const auto once = CanonicalUrl::parse(text);
    if (!once) continue;
    ++accepted;
    ASSERT_EQ(canonical(once->text()), once->text()) << text;
    ASSERT_TRUE(http::Url::parse(once->text())) << text;
  }
  EXPECT_GT(accepted, 50'000u);
}

}  // namespace
}  // namespace sluice::links
