#include "lab/web_pages.h"

#include <charconv>

#include <fmt/format.h>

#include "http/url.h"

namespace sluice::lab {
namespace {

constexpr std::string_view korean_title = "\xc7\xd1\xb1\xdb \xc1\xa6\xb8\xf1";  // "한글 제목" in EUC-KR

std::string escape(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result.push_back(c);
    }
  }
  return result;
}

std::string page(std::string_view title, std::string_view charset_tag) {
  return fmt::format(
      "<!DOCTYPE html>\n<html><head>{0}<title>{1}</title>\n<meta name=\"description\" content=\"About {1}\">\n"
      "<meta property=\"og:site_name\" content=\"Laboratory\"><meta property=\"og:image\" content=\"/og.png\">\n"
      "<link rel=\"icon\" href=\"/favicon.ico\"></head>\n<body><h1>{1}</h1></body></html>\n",
      charset_tag, title);
}

WebPage plain(std::string_view host, std::string_view target) {
  const std::string where = http::percent_decode(target).value_or(std::string(target));
  return {.reply = {.body = page(escape(fmt::format("{} at {}", where, host)), "<meta charset=\"utf-8\">")}};
}

WebPage text(std::string body, int status = 200) {
  return {.reply = {.status = status, .content_type = "text/plain", .body = std::move(body)}};
}

WebPage redirect_to(const std::string& location) {
  return {.reply = {.status = 302, .more_headers = "Location: " + location + "\r\n"}};
}

WebPage refused(int status) {
  return {
      .reply = {.status = status, .body = fmt::format("<html><head><title>Error {0}</title></head></html>\n", status)}};
}

WebPage captcha() {
  return {
      .reply = {.status = 403,
                .body =
                    "<!DOCTYPE html><html><head><title>Just a moment...</title>"
                    "<script src=\"/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1\"></script></head></html>\n",
                .more_headers = "cf-mitigated: challenge\r\n"}};
}

// The number at the end of "/redirect/3".
int number_behind(std::string_view target, std::string_view prefix) {
  int number = 0;
  target.remove_prefix(prefix.size());
  std::from_chars(target.data(), target.data() + target.size(), number);
  return number;
}

WebPage robots_of(std::string_view kind) {
  if (kind == "closed") return text("User-agent: *\nDisallow: /\n");
  if (kind == "norobots") return text("No such file.\n", 404);
  if (kind == "brokenrobots") return text("Out of order.\n", 500);
  if (kind == "stall") return {.manner = WebPage::Manner::stall};
  return text("# This site likes visitors.\nUser-agent: *\nDisallow: /private/\nAllow: /private/open\n");
}

WebPage korean(std::string_view target) {
  if (target.starts_with("/euc-kr/header")) {
    return {.reply = {.content_type = "text/html; charset=EUC-KR", .body = page(korean_title, "")}};
  }
  const bool declares = target.starts_with("/euc-kr/meta");
  return {
      .reply = {.content_type = "text/html", .body = page(korean_title, declares ? "<meta charset=\"euc-kr\">" : "")}};
}

WebPage page_by_path(std::string_view host, std::string_view target) {
  const auto is = [target](std::string_view path) { return target.starts_with(path); };
  if (is("/euc-kr/")) return korean(target);
  if (is("/redirect/")) {
    const int left = number_behind(target, "/redirect/");
    return redirect_to(left > 1 ? fmt::format("/redirect/{}", left - 1) : "/landed");
  }
  if (is("/loop")) return redirect_to("/loop");
  if (is("/to?")) return redirect_to(http::percent_decode(target.substr(4)).value_or("/"));
  if (is("/to-private")) return redirect_to("http://10.0.0.1/");
  if (is("/to-metadata")) return redirect_to("http://169.254.169.254/latest/meta-data/");
  if (is("/to-file")) return redirect_to("file:///etc/passwd");
  if (is("/status/")) return refused(std::clamp(number_behind(target, "/status/"), 400, 599));
  if (is("/captcha")) return captcha();
  if (is("/stall")) return {.manner = WebPage::Manner::stall};
  if (is("/endless")) return {.manner = WebPage::Manner::endless, .reply = {.body = page("Endless", "")}};
  if (is("/picture")) return {.reply = {.content_type = "image/png", .body = "\x89PNG\r\n\x1a\n"}};
  if (is("/broken")) return {.reply = {.body = page("Broken", ""), .half = true}};
  return plain(host, target);
}

}  // namespace

WebPage page_at(std::string_view host, std::string_view target) {
  const std::string_view kind = host.substr(0, host.find('.'));
  if (target == "/robots.txt") return robots_of(kind);
  if (kind == "forbidden") return refused(403);
  if (kind == "captcha") return captcha();
  if (kind == "down") return refused(503);
  if (kind == "stall") return {.manner = WebPage::Manner::stall};
  return page_by_path(host, target);
}

}  // namespace sluice::lab
