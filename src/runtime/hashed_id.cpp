#include "runtime/hashed_id.h"

#include <algorithm>

#include <openssl/evp.h>

#include "base/check.h"
#include "base/encoding.h"

namespace sluice {

struct PiecewiseHash::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  ~State() { EVP_MD_CTX_free(context); }
};

PiecewiseHash::PiecewiseHash() : state_(std::make_unique<State>()) {
  const bool begun = EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1;
  check(begun, "SHA-256 cannot be computed");
}

PiecewiseHash::~PiecewiseHash() = default;

void PiecewiseHash::add(std::string_view piece) {
  const bool added = EVP_DigestUpdate(state_->context, piece.data(), piece.size()) == 1;
  check(added, "SHA-256 cannot be computed");
}

Uuid PiecewiseHash::uuid() {
  std::array<uint8_t, EVP_MAX_MD_SIZE> digest{};
  const bool ended = EVP_DigestFinal_ex(state_->context, digest.data(), nullptr) == 1;
  check(ended, "SHA-256 cannot be computed");
  Uuid uuid;
  std::copy_n(digest.begin(), uuid.bytes.size(), uuid.bytes.begin());
  uuid.bytes[6] = static_cast<uint8_t>((uuid.bytes[6] & 0x0f) | 0x80);  // RFC 9562: version 8, made by rules of our own
  uuid.bytes[8] = static_cast<uint8_t>((uuid.bytes[8] & 0x3f) | 0x80);
  return uuid;
}

Uuid hashed_uuid(std::string_view text) {
  PiecewiseHash hash;
  hash.add(text);
  return hash.uuid();
}

}  // namespace sluice
