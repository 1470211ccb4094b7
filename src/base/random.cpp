#include "base/random.h"

#include <cstring>

#include "base/check.h"

namespace sluice {

uint64_t Random::below(uint64_t bound) {
  check(bound != 0, "below(0) has no valid result");
  // Values of the incomplete last block would favour the low ones.
  const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  uint64_t value = next();
  while (value >= limit) value = next();
  return value % bound;
}

void Random::fill(std::span<uint8_t> bytes) {
  while (!bytes.empty()) {
    const uint64_t value = next();
    const size_t count = std::min(bytes.size(), sizeof value);
    std::memcpy(bytes.data(), &value, count);
    bytes = bytes.subspan(count);
  }
}

}  // namespace sluice
