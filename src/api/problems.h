// The problems that routes of every feature share. Those of one feature stand in its own file; all codes are in
// docs/errors.md.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "http/message.h"

namespace sluice::api {

http::Response unauthenticated(const http::Request& request, std::string detail);
http::Response forbidden(const http::Request& request, std::string detail);
http::Response not_found(const http::Request& request, std::string detail);

// 400 for a wrong form, 422 for an invalid value; names the field.
http::Response undecodable(const http::Request& request, const json::DecodeError& error);

// Decodes the request's body as a T, or returns the problem response.
template <class T>
std::expected<T, http::Response> decode_body(const http::Request& request) {
  auto decoded = json::decode<T>(request.body);
  if (!decoded) return std::unexpected(undecodable(request, decoded.error()));
  return std::move(*decoded);
}

}  // namespace sluice::api
