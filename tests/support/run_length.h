// How long a test goes on, and with which chances: chosen from outside, for all tests alike.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "runtime/system_clock.h"

namespace sluice::test {

// SLUICE_LONG asks for the long form.
inline bool in_full() {
  return std::getenv("SLUICE_LONG") != nullptr;
}

// SLUICE_SEED repeats a run; each is another one otherwise. A test that uses it says which it was where it fails.
inline uint64_t seed() {
  const char* given = std::getenv("SLUICE_SEED");
  if (given != nullptr) return std::strtoull(given, nullptr, 10);
  return static_cast<uint64_t>(SystemClock().wall().time_since_epoch().count());
}

}  // namespace sluice::test
