#include "server/system_random.h"

#include <sys/random.h>

#include "base/check.h"

namespace sluice::server {

uint64_t SystemRandom::next() {
  uint64_t value = 0;
  // Up to 256 bytes are never interrupted and never partial.
  const ssize_t got = getrandom(&value, sizeof value, 0);
  check(got == sizeof value, "the operating system returned no random bytes");
  return value;
}

}  // namespace sluice::server
