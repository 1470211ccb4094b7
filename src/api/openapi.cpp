#include "api/openapi.h"

#include <map>

#include "base/json_writer.h"

namespace sluice::api {
namespace {

struct PathParameter {
  std::string name;
  std::string schema;
};

// What stands between the braces of the router's patterns: name, name:type or name...
std::vector<PathParameter> path_parameters(std::string_view pattern) {
  std::vector<PathParameter> found;
  for (size_t open = pattern.find('{'); open != std::string_view::npos; open = pattern.find('{', open + 1)) {
    std::string_view inner = pattern.substr(open + 1, pattern.find('}', open) - open - 1);
    std::string schema = R"({"type":"string"})";
    if (inner.ends_with("...")) {
      inner.remove_suffix(3);
      schema = R"({"type":"string","description":"The rest of the path; slashes are part of it."})";
    } else if (inner.ends_with(":uuid")) {
      inner.remove_suffix(5);
      schema = R"({"type":"string","format":"uuid"})";
    } else if (inner.ends_with(":int")) {
      inner.remove_suffix(4);
      schema = R"({"type":"integer"})";
    }
    found.push_back({std::string(inner), std::move(schema)});
  }
  return found;
}

constexpr std::string_view problem_schema =
    R"({"type":"object","required":["type","title","status","code"],"properties":{)"
    R"("type":{"type":"string"},"title":{"type":"string"},"status":{"type":"integer"},)"
    R"("code":{"type":"string","description":"Stable; programs choose on it."},"detail":{"type":"string"},)"
    R"("field":{"type":"string","description":"The field that is wrong."},"requestId":{"type":"string"}}})";

std::string method_key(http::Method method) {
  std::string key(name(method));
  for (char& c : key) c = static_cast<char>(c | 0x20);
  return key;
}

void write_parameters(json::Writer& writer, const Endpoint& endpoint) {
  writer.key("parameters").begin_array();
  for (const PathParameter& parameter : path_parameters(endpoint.pattern)) {
    writer.begin_object().field("name", parameter.name).field("in", "path").key("required").boolean(true);
    writer.key("schema").raw(parameter.schema).end_object();
  }
  for (const QueryParameter& parameter : endpoint.query) {
    writer.begin_object().field("name", parameter.name).field("in", "query");
    writer.field("description", parameter.description).key("required").boolean(parameter.required);
    writer.key("schema").raw(parameter.schema).end_object();
  }
  writer.end_array();
}

void write_body(json::Writer& writer, const Endpoint& endpoint) {
  if (endpoint.body_schema.empty()) return;
  writer.key("requestBody").begin_object().key("required").boolean(true);
  writer.key("content").begin_object().key(endpoint.body_type).begin_object();
  writer.key("schema").raw(endpoint.body_schema).end_object().end_object().end_object();
}

void write_answers(json::Writer& writer, const Endpoint& endpoint) {
  writer.key("responses").begin_object();
  for (const Answer& answer : endpoint.answers) {
    writer.key(std::to_string(answer.status)).begin_object().field("description", answer.description);
    if (!answer.schema.empty()) {
      writer.key("content").begin_object().key(answer.content_type).begin_object();
      writer.key("schema").raw(answer.schema).end_object().end_object();
    }
    writer.end_object();
  }
  writer.key("default").begin_object().field("description", "A problem (RFC 9457)").key("content").begin_object();
  writer.key("application/problem+json").begin_object().key("schema").begin_object();
  writer.field("$ref", "#/components/schemas/Problem").end_object().end_object().end_object().end_object();
  writer.end_object();
}

void write_operation(json::Writer& writer, const Endpoint& endpoint) {
  writer.key(method_key(endpoint.method)).begin_object().field("summary", endpoint.summary);
  writer.key("tags").begin_array().string(endpoint.tag).end_array();
  if (endpoint.role) {
    writer.field("description", "Needs the role " + std::string(name(*endpoint.role)) + ".");
    writer.key("security").begin_array().begin_object().key("token").begin_array().end_array().end_object().end_array();
  }
  write_parameters(writer, endpoint);
  write_body(writer, endpoint);
  write_answers(writer, endpoint);
  writer.end_object();
}

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
    for (const QueryParameter& parameter : endpoint.query) {
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
  page += "</ul></section>\n";
}

}  // namespace

std::string openapi_path(std::string_view pattern) {
  std::string path;
  while (!pattern.empty()) {
    const size_t open = std::min(pattern.find('{'), pattern.size());
    path += pattern.substr(0, open);
    pattern.remove_prefix(open);
    if (pattern.empty()) break;
    path += pattern.substr(0, pattern.find_first_of(":.}"));
    path += '}';
    pattern.remove_prefix(pattern.find('}') + 1);
  }
  return path;
}

std::string openapi_document(const Api& api, const std::string& version) {
  std::map<std::string, std::vector<const Endpoint*>> paths;
  for (const auto& endpoint : api.endpoints()) paths[openapi_path(endpoint->pattern)].push_back(endpoint.get());

  std::string out;
  json::Writer writer(out);
  writer.begin_object().field("openapi", "3.1.0");
  writer.key("info").begin_object().field("title", "Sluice").field("version", version).end_object();
  writer.key("paths").begin_object();
  for (const auto& [path, endpoints] : paths) {
    writer.key(path).begin_object();
    for (const Endpoint* endpoint : endpoints) write_operation(writer, *endpoint);
    writer.end_object();
  }
  writer.end_object();
  writer.key("components").begin_object();
  writer.key("securitySchemes").begin_object().key("token").begin_object();
  writer.field("type", "http").field("scheme", "bearer").end_object().end_object();
  writer.key("schemas").begin_object().key("Problem").raw(problem_schema).end_object();
  writer.end_object().end_object();
  return out;
}

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
