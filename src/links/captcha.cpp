#include "links/captcha.h"

#include <algorithm>
#include <array>
#include <span>

namespace sluice::links {
namespace {

// Sources of the scripts of captcha providers. Ordinary pages have them in their forms, too.
constexpr auto scripts = std::to_array<std::string_view>(
    {"/cdn-cgi/challenge-platform/", "challenges.cloudflare.com", "captcha-delivery.com", "px-captcha", "hcaptcha.com",
     "/recaptcha/api.js", "/recaptcha/enterprise.js", "geetest.com", "awswaf.com", "arkoselabs.com"});

// Marks that only captcha pages have.
constexpr auto interstitials =
    std::to_array<std::string_view>({"/orchestrate/chl_page/", "captcha-delivery.com/captcha/", "id=\"px-captcha\""});

// Titles of captcha pages, or their beginnings.
constexpr auto titles = std::to_array<std::string_view>(
    {"Just a moment...", "Attention Required! | Cloudflare", "Checking your browser",
     "Access to this page has been denied", "Robot or human?", "Are you a robot?", "Are you human?",
     "Human Verification", "Verify you are human", "Security Check", "Please verify you are a human", "Captcha",
     "reCAPTCHA", "로봇이 아닙니다", "자동입력 방지", "보안문자"});

bool begins_with(std::string_view text, std::string_view beginning) {
  return http::equal_ignoring_case(text.substr(0, beginning.size()), beginning);
}

bool has_one_of(std::string_view body, std::span<const std::string_view> marks) {
  return std::ranges::any_of(marks, [body](std::string_view mark) { return body.contains(mark); });
}

}  // namespace

// A refusal is a captcha if its title begins like one or it has such a script. Other pages need the whole title or a
// mark that only captcha pages have: people write about captchas.
bool is_captcha(int status, const http::Headers& headers, std::string_view body, const PageFacts& facts) {
  if (http::equal_ignoring_case(headers.get("cf-mitigated"), "challenge")) return true;
  const bool refused = status == 401 || status == 403 || status == 405 || status == 429 || status == 503;
  const auto titled = [&](std::string_view title) {
    return refused ? begins_with(facts.title, title) : http::equal_ignoring_case(facts.title, title);
  };
  if (std::ranges::any_of(titles, titled)) return true;
  return has_one_of(body, refused ? std::span<const std::string_view>(scripts) : interstitials);
}

}  // namespace sluice::links
