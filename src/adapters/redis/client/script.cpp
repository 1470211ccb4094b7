#include "adapters/redis/client/script.h"

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

std::string Script::with_history(const char* text) {
  return std::string(R"(
local function history()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
end
)") + text;
}

Script::Script(std::string text) : text_(std::move(text)), sha1_(sha1_of(text_)) {}

}  // namespace sluice::redis
