#include <map>

#include "api/openapi.h"

namespace sluice::api {
namespace {

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

void append_section(std::string& page, const Endpoint& endpoint) {
  page += "<section><h3><code>" + std::string(name(endpoint.method)) + " " +
          escape_html(openapi_path(endpoint.pattern)) + "</code></h3><p>" + escape_html(endpoint.summary);
  if (endpoint.role) page += " <strong>" + std::string(name(*endpoint.role)) + "</strong>";
  page += "</p>";
  if (!endpoint.query.empty()) {
    page += "<ul>";
    for (const Parameter& parameter : endpoint.query) {
      page += "<li><code>?" + escape_html(parameter.name) + "</code> " + escape_html(parameter.description) + "</li>";
    }
    page += "</ul>";
  }
  if (!endpoint.body_schema.empty()) {
    page += "<details><summary>" + escape_html(endpoint.body_type) + "</summary><pre>" +
            escape_html(endpoint.body_schema) + "</pre></details>";
  }
  page += "<ul>";
  for (const Answer& answer : endpoint.answers) {
    page += "<li><code>" + std::to_string(answer.status) + "</code> " + escape_html(answer.description) + "</li>";
  }
  for (const ProblemAnswer& problem : endpoint.problems) {
    page += "<li><code>" + std::to_string(problem.status) + " " + escape_html(problem.code) + "</code> " +
            escape_html(problem.description) + "</li>";
  }
  page += "</ul></section>\n";
}

}  // namespace

std::string docs_page(const Api& api, const std::string& version) {
  std::map<std::string, std::vector<const Endpoint*>> by_tag;
  for (const auto& endpoint : api.endpoints()) by_tag[endpoint->tag].push_back(endpoint.get());
  std::string page =
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sluice API</title>"
      "<meta name=\"viewport\" content=\"width=device-width\"><link rel=\"stylesheet\" "
      "href=\"/style.css\"></head><body>"
      "<h1>Sluice API <small>" +
      escape_html(version) +
      "</small></h1><p>For programs: <a href=\"/openapi.json\">openapi.json</a>. Errors are "
      "<code>application/problem+json</code> with a stable <code>code</code>.</p>"
      "<p lang=\"ko\">프로그램용 문서: <a href=\"/openapi.json\">openapi.json</a>. 오류는 고정된 <code>code</code>를 "
      "가진 "
      "<code>application/problem+json</code>입니다.</p>\n";
  for (const auto& [tag, endpoints] : by_tag) {
    page += "<h2>" + escape_html(tag) + "</h2>\n";
    for (const Endpoint* endpoint : endpoints) append_section(page, *endpoint);
  }
  return page + "</body></html>\n";
}

}  // namespace sluice::api
