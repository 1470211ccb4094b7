#include "accounts/person_cipher.h"

#include <charconv>
#include <memory>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <sodium.h>

#include "base/check.h"

namespace sluice::accounts {
namespace {

constexpr size_t number_bytes = 4;
constexpr size_t nonce_bytes = 12;
constexpr size_t tag_bytes = 16;

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

std::optional<CipherKey> parse_key(std::string_view hex) {
  const auto bytes = from_hex(hex);
  CipherKey key{};
  if (!bytes || bytes->size() != key.size()) return std::nullopt;
  std::ranges::copy(*bytes, key.begin());
  return key;
}

std::array<uint8_t, number_bytes> encode_number(uint32_t number) {
  return {static_cast<uint8_t>(number >> 24), static_cast<uint8_t>(number >> 16), static_cast<uint8_t>(number >> 8),
          static_cast<uint8_t>(number)};
}

int as_int(size_t size) {
  return static_cast<int>(size);
}

}  // namespace

std::optional<PersonKeys> PersonKeys::parse(std::string_view text) {
  PersonKeys keys;
  bool has_lookup = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const std::string_view label = line.substr(0, space);
    const auto key = parse_key(line.substr(space + 1));
    if (!key) return std::nullopt;
    if (label == "lookup") {
      keys.lookup = *key;
      has_lookup = true;
      continue;
    }
    uint32_t number = 0;
    const auto [rest, error] = std::from_chars(label.data(), label.data() + label.size(), number);
    if (error != std::errc{} || rest != label.data() + label.size() || !keys.sealing.emplace(number, *key).second) {
      return std::nullopt;
    }
  }
  if (!has_lookup || keys.sealing.empty()) return std::nullopt;
  return keys;
}

PersonKeys PersonKeys::generate(Random& secrets) {
  PersonKeys keys;
  secrets.fill(keys.lookup);
  secrets.fill(keys.sealing[1]);
  return keys;
}

std::string PersonKeys::text() const {
  std::string out = fmt::format("lookup {}\n", to_hex(lookup));
  for (const auto& [number, key] : sealing) fmt::format_to(std::back_inserter(out), "{} {}\n", number, to_hex(key));
  return out;
}

PersonCipher::PersonCipher(PersonKeys keys, Random& secrets) : keys_(std::move(keys)), secrets_(secrets) {
  check(!keys_.sealing.empty(), "no encryption key is configured");
}

// Layout: key number (4 bytes), nonce (12), ciphertext, tag (16).
Bytes PersonCipher::seal(std::string_view text, std::string_view context) {
  const auto& [number, key] = *keys_.sealing.rbegin();
  Bytes sealed(number_bytes + nonce_bytes + text.size() + tag_bytes);
  std::ranges::copy(encode_number(number), sealed.begin());
  const std::span<uint8_t> nonce(sealed.data() + number_bytes, nonce_bytes);
  secrets_.fill(nonce);
  uint8_t* const body = sealed.data() + number_bytes + nonce_bytes;

  const Cipher cipher(EVP_CIPHER_CTX_new());
  int length = 0;
  const bool done =
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.data(), nonce.data()) == 1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &length, as_bytes(context).data(), as_int(context.size())) == 1 &&
      EVP_EncryptUpdate(cipher.get(), body, &length, as_bytes(text).data(), as_int(text.size())) == 1 &&
      EVP_EncryptFinal_ex(cipher.get(), body + length, &length) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, body + text.size()) == 1;
  check(done, "AES-256-GCM encryption failed");
  return sealed;
}

std::optional<std::string> PersonCipher::open(std::span<const uint8_t> sealed, std::string_view context) const {
  if (sealed.size() < number_bytes + nonce_bytes + tag_bytes) return std::nullopt;
  uint32_t number = 0;
  for (size_t i = 0; i < number_bytes; ++i) number = number << 8 | sealed[i];
  const auto key = keys_.sealing.find(number);
  if (key == keys_.sealing.end()) return std::nullopt;
  const auto nonce = sealed.subspan(number_bytes, nonce_bytes);
  const auto body = sealed.subspan(number_bytes + nonce_bytes);
  std::string text(body.size() - tag_bytes, '\0');
  std::array<uint8_t, tag_bytes> tag{};
  std::ranges::copy(body.last(tag_bytes), tag.begin());

  const Cipher cipher(EVP_CIPHER_CTX_new());
  auto* const out = reinterpret_cast<uint8_t*>(text.data());
  int length = 0;
  const bool genuine =
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key->second.data(), nonce.data()) == 1 &&
      EVP_DecryptUpdate(cipher.get(), nullptr, &length, as_bytes(context).data(), as_int(context.size())) == 1 &&
      EVP_DecryptUpdate(cipher.get(), out, &length, body.data(), as_int(text.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(cipher.get(), out + length, &length) == 1;
  if (!genuine) return std::nullopt;
  return text;
}

Bytes PersonCipher::lookup_hash(std::string_view text) const {
  Bytes hash(crypto_auth_hmacsha256_BYTES);
  const auto bytes = as_bytes(text);
  crypto_auth_hmacsha256(hash.data(), bytes.data(), bytes.size(), keys_.lookup.data());
  return hash;
}

}  // namespace sluice::accounts
