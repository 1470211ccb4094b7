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
  EXPECT_TRUE(is_captcha_page(200, "<title>자동입력 방지 확인</title>"));
  EXPECT_TRUE(is_captcha_page(403, "<script src='https://ct.captcha-delivery.com/c.js'></script>"));
  EXPECT_TRUE(is_captcha_page(503, "<script src='https://www.google.com/recaptcha/api.js'></script>"));
}

TEST(Captcha, in_a_form_of_a_page_is_none) {
  EXPECT_FALSE(
      is_captcha_page(200, "<title>Sign up</title><script src='https://www.google.com/recaptcha/api.js'></script>"));
  EXPECT_FALSE(is_captcha_page(403, "<title>Forbidden</title>"));
  EXPECT_FALSE(is_captcha_page(200, "<title>How captchas work</title>"));
}

TEST(LinkFailure, is_permanent_where_trying_again_is_useless) {
  for (const int status : {400, 404, 405, 410}) EXPECT_TRUE(is_permanent(failure_of_status(status).reason)) << status;
  for (const int status : {403, 408, 429, 500, 503})
    EXPECT_FALSE(is_permanent(failure_of_status(status).reason)) << status;
  using Kind = http::ClientError::Kind;
  for (const Kind kind : {Kind::forbidden_address, Kind::too_many_redirects, Kind::too_large}) {
    EXPECT_TRUE(is_permanent(failure_of({.kind = kind, .text = ""}).reason)) << name(kind);
  }
  for (const Kind kind :
       {Kind::timeout, Kind::dns, Kind::refused, Kind::tls, Kind::closed, Kind::bad_answer, Kind::busy}) {
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
