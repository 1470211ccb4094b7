#include "api/openapi.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/shared_problems.h"
#include "base/check.h"
#include "base/json.h"
#include "http/problem.h"

namespace sluice::api {
namespace {

constexpr const char* problem_type = "application/problem+json";

constexpr std::string_view about =
    "Errors are `application/problem+json` (RFC 9457) with a stable `code`. A path with `GET` also "
    "accepts `HEAD`; `OPTIONS` lists the methods of a path; other methods get 405, `method-not-allowed` "
    "and `Allow`.";

// The type of a path's parameter, as its pattern gives it.
struct PathParameter {
  std::string name;
  std::string schema;
};

// The parts between the braces of the router's patterns: name, name:type or name...
std::vector<PathParameter> path_parameters(std::string_view pattern) {
  std::vector<PathParameter> found;
  for (size_t open = pattern.find('{'); open != std::string_view::npos; open = pattern.find('{', open + 1)) {
    std::string_view inner = pattern.substr(open + 1, pattern.find('}', open) - open - 1);
    std::string schema = R"({"type":"string","minLength":1})";
    if (inner.ends_with("...")) {
      inner.remove_suffix(3);
    } else if (inner.ends_with(":uuid")) {
      inner.remove_suffix(5);
      schema = R"({"type":"string","format":"uuid"})";
    } else if (inner.ends_with(":int")) {
      inner.remove_suffix(4);
      schema = R"({"type":"integer","format":"int64"})";
    }
    found.push_back({std::string(inner), std::move(schema)});
  }
  return found;
}

std::string method_key(http::Method method) {
  std::string key(name(method));
  for (char& c : key) c = static_cast<char>(c | 0x20);
  return key;
}

// "get_jobs_by_id": the method and the path's words.
std::string operation_id(http::Method method, std::string_view pattern) {
  std::string path = openapi_path(pattern);
  if (path.starts_with("/api/v1/")) path.erase(0, std::string_view("/api/v1").size());
  std::string id = method_key(method);
  for (const char c : path == "/" ? "/home" : path) {
    if (c == '{') {
      id += "by_";
    } else if (c != '}') {
      id += c == '/' || c == '-' || c == '.' ? '_' : c;
    }
  }
  return id;
}

// Answers of 200 that have a tag are compared with If-None-Match by the server.
bool has_etag(const Endpoint& endpoint) {
  return endpoint.options.compute_etag ||
         std::ranges::find(endpoint.answers, 304, &Answer::status) != endpoint.answers.end();
}

void write_parameter(json::Writer& writer, std::string_view place, const Parameter& parameter) {
  writer.begin_object().field("name", parameter.name).field("in", place);
  if (!parameter.description.empty()) writer.field("description", parameter.description);
  writer.key("required").boolean(parameter.required).key("schema").raw(parameter.schema).end_object();
}

void write_parameters(json::Writer& writer, const Endpoint& endpoint) {
  writer.key("parameters").begin_array();
  for (const PathParameter& of_pattern : path_parameters(endpoint.pattern)) {
    Parameter parameter{of_pattern.name, "", of_pattern.schema};
    const auto described = std::ranges::find(endpoint.path, of_pattern.name, &Parameter::name);
    if (described != endpoint.path.end()) parameter = *described;
    parameter.required = true;
    write_parameter(writer, "path", parameter);
  }
  for (const Parameter& parameter : endpoint.query) write_parameter(writer, "query", parameter);
  for (const Parameter& parameter : endpoint.headers) write_parameter(writer, "header", parameter);
  if (has_etag(endpoint)) {
    write_parameter(writer, "header", {"If-None-Match", "The `ETag` of the client's copy; 304 if it is current."});
  }
  writer.end_array();
}

void write_body(json::Writer& writer, const Endpoint& endpoint) {
  if (endpoint.body_schema.empty()) return;
  writer.key("requestBody").begin_object().key("required").boolean(true);
  writer.key("content").begin_object().key(endpoint.body_type).begin_object();
  writer.key("schema").raw(endpoint.body_schema).end_object().end_object().end_object();
}

void write_header(json::Writer& writer, const Parameter& header) {
  writer.key(header.name).begin_object().field("description", header.description);
  writer.key("required").boolean(header.required).key("schema").raw(header.schema).end_object();
}

void write_headers(json::Writer& writer, int status, const std::vector<Parameter>& own) {
  writer.key("headers").begin_object();
  if (status != 503) {  // a connection too many is refused before its request is read
    writer.key("X-Request-Id").begin_object().field("$ref", "#/components/headers/X-Request-Id").end_object();
  }
  for (const Parameter& header : own) write_header(writer, header);
  if (status == 401) {
    write_header(writer, {"WWW-Authenticate", "How to authenticate.", R"({"const":"Bearer"})", true});
  }
  if (status == 429 || status == 503) {
    write_header(writer,
                 {"Retry-After", "Seconds to wait before retrying.", R"({"type":"integer","minimum":1})", true});
  }
  writer.end_object();
}

void write_links(json::Writer& writer, const std::vector<Link>& links) {
  if (links.empty()) return;
  writer.key("links").begin_object();
  for (const Link& link : links) {
    writer.key(link.name).begin_object().field("operationId", operation_id(link.method, link.pattern));
    writer.key("parameters").begin_object().field(link.parameter, link.value).end_object().end_object();
  }
  writer.end_object();
}

void write_problem_content(json::Writer& writer, const std::vector<ProblemAnswer>& problems) {
  writer.key(problem_type).begin_object().key("schema").begin_object().key("allOf").begin_array();
  writer.begin_object().field("$ref", "#/components/schemas/Problem").end_object();
  writer.begin_object().key("properties").begin_object().key("code").begin_object().key("enum").begin_array();
  for (const ProblemAnswer& problem : problems) writer.string(problem.code);
  writer.end_array().end_object().end_object().end_object();
  writer.end_array().end_object().end_object();
}

std::string describe(const Answer* answer, const std::vector<ProblemAnswer>* problems) {
  std::string text = answer != nullptr ? answer->description : "";
  if (problems == nullptr) return text;
  for (const ProblemAnswer& problem : *problems) {
    text += fmt::format("{}`{}`: {}", text.empty() ? "" : "\n", problem.code, problem.description);
  }
  return text;
}

// One status of an endpoint: its answer, its problems, or both.
void write_response(json::Writer& writer, int status, const Answer* answer,
                    const std::vector<ProblemAnswer>* problems) {
  writer.begin_object().field("description", describe(answer, problems));
  write_headers(writer, status, answer != nullptr ? answer->headers : std::vector<Parameter>{});
  const bool has_content = answer != nullptr && !answer->schema.empty();
  if (has_content || problems != nullptr) {
    writer.key("content").begin_object();
    if (has_content) {
      writer.key(answer->content_type).begin_object().key("schema").raw(answer->schema).end_object();
    }
    if (problems != nullptr) write_problem_content(writer, *problems);
    writer.end_object();
  }
  if (answer != nullptr) write_links(writer, answer->links);
  writer.end_object();
}

bool is_common(int status, const std::vector<ProblemAnswer>& problems) {
  const auto common = common_problems().find(status);
  return common != common_problems().end() &&
         std::ranges::equal(common->second, problems, {}, &ProblemAnswer::code, &ProblemAnswer::code);
}

std::vector<Answer> answers_of(const Endpoint& endpoint) {
  std::vector<Answer> answers = endpoint.answers;
  if (!endpoint.options.compute_etag) return answers;
  const Parameter etag{"ETag", "Identifies the content.", R"({"type":"string"})", true};
  for (Answer& answer : answers) answer.headers.push_back(etag);
  answers.push_back({.status = 304, .description = "The client's copy is current.", .headers = {etag}});
  return answers;
}

void write_answers(json::Writer& writer, const Endpoint& endpoint) {
  const std::vector<Answer> answers = answers_of(endpoint);
  Problems problems = problems_of(endpoint);
  writer.key("responses").begin_object();
  for (const Answer& answer : answers) {
    const auto same_status = problems.extract(answer.status);
    writer.key(std::to_string(answer.status));
    write_response(writer, answer.status, &answer, same_status ? &same_status.mapped() : nullptr);
  }
  for (const auto& [status, of_status] : problems) {
    writer.key(std::to_string(status));
    if (is_common(status, of_status)) {
      writer.begin_object().field("$ref", fmt::format("#/components/responses/{}", status)).end_object();
    } else {
      write_response(writer, status, nullptr, &of_status);
    }
  }
  writer.end_object();
}

void write_operation(json::Writer& writer, const Endpoint& endpoint) {
  writer.key(method_key(endpoint.method)).begin_object();
  writer.field("operationId", operation_id(endpoint.method, endpoint.pattern)).field("summary", endpoint.summary);
  writer.key("tags").begin_array().string(endpoint.tag).end_array();
  if (endpoint.role) {
    writer.field("description", fmt::format("Requires the role {} or higher.", name(*endpoint.role)));
    writer.key("security").begin_array().begin_object().key("token").begin_array();
    writer.string(name(*endpoint.role)).end_array().end_object().end_array();
  }
  write_parameters(writer, endpoint);
  write_body(writer, endpoint);
  write_answers(writer, endpoint);
  writer.end_object();
}

void write_components(json::Writer& writer) {
  writer.key("components").begin_object();
  writer.key("securitySchemes").begin_object().key("token").begin_object();
  writer.field("type", "http").field("scheme", "bearer");
  writer.field("description",
               "An API key. Roles are USER, SERVICE and ADMIN; each includes the rights of those before it.");
  writer.end_object().end_object();
  writer.key("headers").begin_object();
  write_header(writer,
               {"X-Request-Id", "The client's request id, or one generated by the server; it appears in the log.",
                R"({"type":"string","minLength":1})", true});
  writer.end_object();
  writer.key("schemas").begin_object().key("Problem").raw(json::output_schema<http::ProblemBody>());
  writer.key("Json").raw(json::raw_schema).end_object();
  writer.key("responses").begin_object();
  for (const auto& [status, problems] : common_problems()) {
    writer.key(std::to_string(status));
    write_response(writer, status, nullptr, &problems);
  }
  writer.end_object().end_object();
}

void check_links(const Api& api) {
  const auto leads_to = [](const Link& link) {
    return
        [&link](const auto& endpoint) { return endpoint->method == link.method && endpoint->pattern == link.pattern; };
  };
  for (const auto& endpoint : api.endpoints()) {
    for (const Answer& answer : endpoint->answers) {
      for (const Link& link : answer.links) {
        check_that(std::ranges::any_of(api.endpoints(), leads_to(link)), "{} links to {}, which is not an endpoint",
                   endpoint->pattern, link.pattern);
      }
    }
  }
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
  check_links(api);
  std::map<std::string, std::vector<const Endpoint*>> paths;
  for (const auto& endpoint : api.endpoints()) paths[openapi_path(endpoint->pattern)].push_back(endpoint.get());

  std::string out;
  json::Writer writer(out);
  writer.begin_object().field("openapi", "3.1.0");
  writer.key("info").begin_object().field("title", "Sluice").field("version", version);
  writer.field("description", about).end_object();
  writer.key("paths").begin_object();
  for (const auto& [path, endpoints] : paths) {
    writer.key(path).begin_object();
    for (const Endpoint* endpoint : endpoints) write_operation(writer, *endpoint);
    writer.end_object();
  }
  writer.end_object();
  write_components(writer);
  writer.end_object();
  return out;
}

}  // namespace sluice::api
