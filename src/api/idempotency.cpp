#include "api/idempotency.h"

#include <algorithm>

#include "api/problems.h"

namespace sluice::api {
namespace {

constexpr size_t longest_key = 200;
constexpr std::string_view header = "Idempotency-Key";

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= longest_key &&
         std::ranges::all_of(text, [](char c) { return c >= '!' && c <= '~'; });
}

}  // namespace

const json::TextForm idempotency_key_form{"^[!-~]{1,200}$", is_key,
                                          "must have 1 to 200 ASCII characters, without spaces"};

Parameter idempotency_key_parameter() {
  std::string schema;
  json::Writer writer(schema);
  writer.begin_object().field("type", "string").field("minLength", 1).field("maxLength", longest_key);
  writer.field("pattern", idempotency_key_form.pattern).end_object();
  return {std::string(header), "Requests with the same key take effect once.", std::move(schema)};
}

std::expected<std::optional<std::string>, http::Response> idempotency_key(const http::Request& request) {
  const auto given = request.headers->find(header);
  if (!given) return std::nullopt;
  if (!idempotency_key_form.fits(*given)) {
    return std::unexpected(undecodable(
        request, {json::DecodeError::Kind::invalid, std::string(header), std::string(idempotency_key_form.message)}));
  }
  return std::string(*given);
}

}  // namespace sluice::api
