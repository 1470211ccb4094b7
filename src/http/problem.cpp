#include "http/problem.h"

#include <algorithm>

#include "base/json.h"

namespace sluice::http {
namespace {

constexpr json::TextForm code_form{.pattern = "^[a-z0-9-]+$", .fits = nullptr, .message = ""};  // only written

std::string type(const ProblemBody& body) {
  return "urn:sluice:problem:" + body.problem->code;
}

std::string_view title(const ProblemBody& body) {
  return body.problem->title.empty() ? reason_phrase(body.problem->status) : body.problem->title;
}

std::optional<std::string_view> unless_empty(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace

Response Problem::to_response(std::string_view request_id) const {
  std::string body = json::encode(ProblemBody{this, request_id});
  Response response = Response::text(status, std::move(body), "application/problem+json");
  response.headers.add("Cache-Control", "no-store");
  if (retry_after) {
    const auto seconds = std::max(std::chrono::ceil<std::chrono::seconds>(*retry_after), std::chrono::seconds{1});
    response.headers.add("Retry-After", std::to_string(seconds.count()));
  }
  return response;
}

void ProblemBody::describe(json::Object<ProblemBody>& object) {
  object.required("type", type).format("uri");
  object.required("title", title);
  object.required("status", [](const ProblemBody& body) { return body.problem->status; }).range(400, 599);
  object.required("code", [](const ProblemBody& body) -> const std::string& { return body.problem->code; })
      .form(code_form)
      .about("Stable code for programs.");
  object.optional("detail", [](const ProblemBody& body) { return unless_empty(body.problem->detail); }).omit_null();
  object.optional("field", [](const ProblemBody& body) { return unless_empty(body.problem->field); })
      .about("Path of the invalid field, such as jobs[2].kind")
      .omit_null();
  object.required("requestId", &ProblemBody::request_id);
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100: return "Continue";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 402: return "Payment Required";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 428: return "Precondition Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 499: return "Client Closed Request";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "";
  }
}

}  // namespace sluice::http
