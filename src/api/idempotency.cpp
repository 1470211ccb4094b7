#include "api/idempotency.h"

#include "api/problems.h"

namespace sluice::api {
namespace {

constexpr size_t longest_key = 200;

}  // namespace

std::expected<std::optional<std::string>, http::Response> idempotency_key(const http::Request& request) {
  const std::string_view given = request.header("Idempotency-Key");
  if (given.empty()) return std::nullopt;
  if (given.size() > longest_key) {
    return std::unexpected(
        undecodable(request, {json::DecodeError::Kind::invalid, "Idempotency-Key", "must not exceed 200 bytes"}));
  }
  return std::string(given);
}

}  // namespace sluice::api
