#include "api/shared_problems.h"

#include <algorithm>

namespace sluice::api {
namespace {

constexpr const char* json_type = "application/json";

void add(Problems& problems, int status, std::string code, std::string description) {
  std::vector<ProblemAnswer>& known = problems[status];
  if (std::ranges::find(known, code, &ProblemAnswer::code) != known.end()) return;
  known.push_back({status, std::move(code), std::move(description)});
}

void add_of_parameters(Problems& problems, const Endpoint& endpoint) {
  if (endpoint.pattern.contains('{')) add(problems, 404, "not-found", "No resource exists at this path.");
  if (endpoint.query.empty() && endpoint.headers.empty()) return;
  add(problems, 422, "invalid-value", "A parameter has an invalid value; `field` names it.");
  if (std::ranges::any_of(endpoint.query, &Parameter::required)) {
    add(problems, 400, "missing-field", "A required parameter is missing; `field` names it.");
  }
}

void add_of_body(Problems& problems, const Endpoint& endpoint) {
  if (endpoint.body_schema.empty() || endpoint.body_type != json_type) return;
  add(problems, 400, "malformed-json", "The body is not valid JSON.");
  add(problems, 400, "missing-field", "A required field is missing; `field` names it.");
  add(problems, 400, "unknown-field", "A field is unknown; `field` names it.");
  add(problems, 400, "wrong-type", "A field has the wrong type; `field` names it.");
  add(problems, 422, "invalid-value", "A field has an invalid value; `field` names it.");
}

bool takes_bodies(const Endpoint& endpoint) {
  return endpoint.method != http::Method::get && endpoint.method != http::Method::head;
}

Problems make_common_problems() {
  Problems all;
  add(all, 400, "malformed-request", "The request is not well-formed HTTP.");
  add(all, 400, "malformed-path", "The path has empty, `.` or `..` segments, encoded slashes or broken escapes.");
  add(all, 400, "malformed-query", "The query has a broken escape.");
  add(all, 401, "unauthenticated", "The token is missing, unknown, revoked or expired.");
  add(all, 403, "forbidden", "The caller's role does not allow this.");
  add(all, 404, "not-found", "No resource exists at this path.");
  add(all, 408, "request-timeout", "The request did not arrive in time.");
  add(all, 413, "body-too-large", "The body exceeds the limit of this endpoint.");
  add(all, 414, "target-too-long", "The URL is too long.");
  add(all, 415, "unsupported-media-type", "This endpoint does not accept the body's Content-Type or Content-Encoding.");
  add(all, 431, "head-too-large", "The header fields are too large.");
  add(all, 431, "too-many-headers", "There are too many header fields.");
  add(all, 500, "internal-error", "An internal error; the server's log has the details under `requestId`.");
  add(all, 501, "unknown-transfer-coding", "The transfer coding is not supported; only chunked is.");
  add(all, 503, "engine-unavailable", "A database or another engine is unavailable.");
  add(all, 503, "deadline-exceeded", "The request took too long; whether it took effect is unknown.");
  add(all, 503, "overloaded", "Too many requests are waiting; nothing was done.");
  add(all, 503, "too-many-connections", "The limit on connections is reached.");
  add(all, 503, "shutting-down", "The server is stopping.");
  return all;
}

bool applies(int status, const Endpoint& endpoint) {
  switch (status) {
    case 401:
    case 403: return endpoint.role.has_value();
    case 404: return false;  // only with parameters
    case 413:
    case 415: return takes_bodies(endpoint);
    default: return true;
  }
}

}  // namespace

const Problems& common_problems() {
  static const Problems all = make_common_problems();
  return all;
}

Problems problems_of(const Endpoint& endpoint) {
  Problems problems;
  for (const ProblemAnswer& own : endpoint.problems) add(problems, own.status, own.code, own.description);
  add_of_parameters(problems, endpoint);
  add_of_body(problems, endpoint);
  for (const auto& [status, common] : common_problems()) {
    if (!applies(status, endpoint)) continue;
    for (const ProblemAnswer& one : common) add(problems, status, one.code, one.description);
  }
  return problems;
}

}  // namespace sluice::api
