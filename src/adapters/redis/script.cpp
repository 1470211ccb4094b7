#include "adapters/redis/script.h"

#include <array>

#include <openssl/evp.h>

#include "base/check.h"
#include "base/encoding.h"

namespace sluice::redis {
namespace {

std::string sha1_of(const std::string& text) {
  std::array<uint8_t, 20> digest{};
  const int done = EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha1(), nullptr);
  check(done == 1, "SHA-1 of a script");
  return to_hex(digest);
}

}  // namespace

Script::Script(std::string text) : text_(std::move(text)), sha1_(sha1_of(text_)) {}

}  // namespace sluice::redis
