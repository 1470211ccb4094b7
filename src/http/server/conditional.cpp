#include "http/server/conditional.h"

#include <array>

#include <openssl/evp.h>

#include "base/check.h"
#include "base/encoding.h"

namespace sluice::http {
namespace {

std::string_view without_weakness(std::string_view etag) {
  while (etag.starts_with(' ')) etag.remove_prefix(1);
  while (etag.ends_with(' ')) etag.remove_suffix(1);
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  return etag;
}

}  // namespace

std::string etag_of(std::string_view bytes) {
  std::array<uint8_t, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  check(done == 1, "SHA-256 is not available");
  return '"' + to_base64url(std::span(digest).first(16)) + '"';
}

bool etag_matches(std::string_view if_none_match, std::string_view etag) {
  if (if_none_match.empty() || etag.empty()) return false;
  if (if_none_match == "*") return true;
  const std::string_view wanted = without_weakness(etag);
  while (!if_none_match.empty()) {
    const size_t comma = std::min(if_none_match.find(','), if_none_match.size());
    if (without_weakness(if_none_match.substr(0, comma)) == wanted) return true;
    if_none_match.remove_prefix(std::min(comma + 1, if_none_match.size()));
  }
  return false;
}

void answer_condition(std::string_view if_none_match, Response& response) {
  if (response.status != 200 || if_none_match.empty()) return;
  if (!etag_matches(if_none_match, response.headers.get("ETag"))) return;
  response.status = 304;
  response.body = std::string{};
  response.headers.remove("Content-Type");
  response.headers.remove("Content-Encoding");
}

}  // namespace sluice::http
