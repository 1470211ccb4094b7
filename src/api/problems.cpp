#include "api/problems.h"

#include "http/problem.h"

namespace sluice::api {

using http::Problem;

http::Response unauthenticated(const http::Request& request, std::string detail) {
  const Problem problem{401, "unauthenticated", "Authentication required", std::move(detail)};
  http::Response response = problem.to_response(request.request_id);
  response.headers.set("WWW-Authenticate", "Bearer");
  return response;
}

http::Response forbidden(const http::Request& request, std::string detail) {
  return Problem{403, "forbidden", "Permission denied", std::move(detail)}.to_response(request.request_id);
}

http::Response not_found(const http::Request& request, std::string detail) {
  return Problem{404, "not-found", "Not found", std::move(detail)}.to_response(request.request_id);
}

http::Response undecodable(const http::Request& request, const json::DecodeError& error) {
  using Kind = json::DecodeError::Kind;
  Problem problem;
  switch (error.kind) {
    case Kind::malformed: problem = {400, "malformed-json", "Invalid JSON"}; break;
    case Kind::missing: problem = {400, "missing-field", "Missing field"}; break;
    case Kind::unknown: problem = {400, "unknown-field", "Unknown field"}; break;
    case Kind::wrong_type: problem = {400, "wrong-type", "Wrong field type"}; break;
    case Kind::invalid: problem = {422, "invalid-value", "Invalid field value"}; break;
  }
  problem.detail = error.text();
  problem.field = error.path;
  return problem.to_response(request.request_id);
}

}  // namespace sluice::api
