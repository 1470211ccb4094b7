// Encrypts personal data.
//
// E-mail addresses, names and phone numbers are stored sealed (AES-256-GCM, the key's number in front), so that a
// copied database tells nothing about people. Lookup and uniqueness go over a keyed hash. Keys rotate: the newest
// seals, every known one opens.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/random.h"

namespace sluice::accounts {

using CipherKey = std::array<uint8_t, 32>;

struct PersonKeys {
  std::map<uint32_t, CipherKey> sealing;  // by number; the highest is the newest
  CipherKey lookup{};                     // never rotates: hashes must keep matching

  // One key a line: `lookup HEX`, `1 HEX`, `2 HEX`... Nothing unless there is a lookup key and at least one other.
  static std::optional<PersonKeys> parse(std::string_view text);
  static PersonKeys generate(Random& secrets);
  std::string text() const;
};

// Safe to share between threads as far as `secrets` is.
class PersonCipher {
 public:
  PersonCipher(PersonKeys keys, Random& secrets);

  // `context` (a column's name) is bound in: a sealed value does not open in another column.
  Bytes seal(std::string_view text, std::string_view context);
  // Nothing where the value was changed, belongs to another context, or its key is gone.
  std::optional<std::string> open(std::span<const uint8_t> sealed, std::string_view context) const;

  // The same for the same text, and not computable without the key.
  Bytes lookup_hash(std::string_view text) const;

 private:
  PersonKeys keys_;
  Random& secrets_;
};

}  // namespace sluice::accounts
