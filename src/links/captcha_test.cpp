#include "links/captcha.h"

#include <gtest/gtest.h>

#include "links/link_failure.h"

namespace sluice::links {
namespace {

bool is_captcha_page(int status, std::string_view body, std::string_view header = "") {
  http::Headers headers;
  if (!header.empty()) headers.add(header, "challenge");
  return is_captcha(status, headers, body,
                    read_page(body, "text/html; charset=utf-8", *http::Url::parse("http://a.kr/")));
}

TEST(Captcha, is_known_by_header_title_or_script) {
  EXPECT_TRUE(is_captcha_page(403, "", "CF-Mitigated"));
  EXPECT_TRUE(is_captcha_page(200, "<title>Just a moment...</title>"));
  EXPECT_TRUE(is_captcha_page(200, "<title>자동입력 방지</title>"));
  EXPECT_TRUE(is_captcha_page(403, "<title>자동입력 방지 확인</title>"));
  EXPECT_TRUE(is_captcha_page(503, "<title>Checking your browser before accessing a.kr</title>"));
  EXPECT_TRUE(is_captcha_page(200, "<script src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1'></script>"));
  EXPECT_TRUE(is_captcha_page(403, "<script src='https://ct.captcha-delivery.com/c.js'></script>"));
  EXPECT_TRUE(is_captcha_page(503, "<script src='https://www.google.com/recaptcha/api.js'></script>"));
}

TEST(Captcha, in_a_form_of_a_page_is_none) {
  EXPECT_FALSE(
      is_captcha_page(200, "<title>Sign up</title><script src='https://www.google.com/recaptcha/api.js'></script>"));
  EXPECT_FALSE(is_captcha_page(403, "<title>Forbidden</title>"));
  EXPECT_FALSE(is_captcha_page(200, "<title>How captchas work</title>"));
}

TEST(Captcha, in_the_title_of_an_ordinary_page_is_none) {
  for (const char* title : {"Captcha: how it works", "Captchas considered harmful", "reCAPTCHA v3 in ten minutes",
                            "Security Check list for servers", "보안문자란 무엇인가", "Are you human? A short story",
                            "Checking your browser history"}) {
    EXPECT_FALSE(is_captcha_page(200, fmt::format("<title>{}</title>", title))) << title;
    EXPECT_FALSE(is_captcha_page(404, fmt::format("<title>{}</title>", title))) << title;
  }
  // Cloudflare puts this into every page it passes on.
  EXPECT_FALSE(is_captcha_page(200, "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>"));
}

TEST(LinkFailure, is_permanent_where_the_site_does_not_want_us) {
  EXPECT_TRUE(is_permanent(FailureReason::robots));
  EXPECT_TRUE(is_permanent(FailureReason::captcha));
}

TEST(LinkFailure, of_any_other_kind_is_worth_a_second_try) {
  for (const int status : {400, 403, 404, 405, 408, 410, 429, 500, 503})
    EXPECT_FALSE(is_permanent(failure_of_status(status).reason)) << status;
  using Kind = http::ClientError::Kind;
  for (const Kind kind : {Kind::forbidden_address, Kind::too_many_redirects, Kind::too_large, Kind::timeout, Kind::dns,
                          Kind::refused, Kind::tls, Kind::closed, Kind::bad_answer, Kind::busy}) {
    EXPECT_FALSE(is_permanent(failure_of({.kind = kind, .text = ""}).reason)) << name(kind);
  }
}

TEST(LinkFailure, speaks_against_the_domain_where_the_site_does_not_want_us) {
  EXPECT_TRUE(blames_domain(FailureReason::robots));
  EXPECT_TRUE(blames_domain(FailureReason::captcha));
  EXPECT_TRUE(blames_domain(failure_of_status(403).reason));
  EXPECT_FALSE(blames_domain(failure_of_status(404).reason));
  EXPECT_FALSE(blames_domain(FailureReason::unreachable));
}

}  // namespace
}  // namespace sluice::links
