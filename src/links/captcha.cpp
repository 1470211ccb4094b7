#include "links/captcha.h"

#include <algorithm>
#include <array>

namespace sluice::links {
namespace {

// Where the scripts of those who make such pages come from.
constexpr auto scripts = std::to_array<std::string_view>(
    {"/cdn-cgi/challenge-platform/", "challenges.cloudflare.com", "captcha-delivery.com", "px-captcha", "hcaptcha.com",
     "/recaptcha/api.js", "/recaptcha/enterprise.js", "geetest.com", "awswaf.com", "arkoselabs.com"});

// Their titles, or what those begin with.
constexpr auto titles = std::to_array<std::string_view>(
    {"Just a moment...", "Attention Required! | Cloudflare", "Checking your browser",
     "Access to this page has been denied", "Robot or human?", "Are you a robot?", "Are you human?",
     "Human Verification", "Verify you are human", "Security Check", "Please verify you are a human", "Captcha",
     "reCAPTCHA", "로봇이 아닙니다", "자동입력 방지", "보안문자"});

bool begins_with(std::string_view text, std::string_view beginning) {
  return http::equal_ignoring_case(text.substr(0, beginning.size()), beginning);
}

}  // namespace

bool is_captcha(int status, const http::Headers& headers, std::string_view body, const PageFacts& facts) {
  if (http::equal_ignoring_case(headers.get("cf-mitigated"), "challenge")) return true;
  if (std::ranges::any_of(titles, [&facts](std::string_view title) { return begins_with(facts.title, title); }))
    return true;
  const bool refused = status == 401 || status == 403 || status == 405 || status == 429 || status == 503;
  return refused && std::ranges::any_of(scripts, [body](std::string_view script) { return body.contains(script); });
}

}  // namespace sluice::links
