#include "runtime/hashed_id.h"

#include <algorithm>

#include <openssl/sha.h>

#include "base/encoding.h"

namespace sluice {

Uuid hashed_uuid(std::string_view text) {
  std::array<uint8_t, SHA256_DIGEST_LENGTH> digest;
  const auto bytes = as_bytes(text);
  SHA256(bytes.data(), bytes.size(), digest.data());
  Uuid uuid;
  std::copy_n(digest.begin(), uuid.bytes.size(), uuid.bytes.begin());
  uuid.bytes[6] = static_cast<uint8_t>((uuid.bytes[6] & 0x0f) | 0x80);  // RFC 9562: version 8, made by rules of our own
  uuid.bytes[8] = static_cast<uint8_t>((uuid.bytes[8] & 0x3f) | 0x80);
  return uuid;
}

}  // namespace sluice
