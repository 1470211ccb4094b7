// A port that nobody listens on.
#pragma once

#include <cstdint>

namespace sluice::test {

// Asked of the kernel, so that tests can run beside each other. Somebody else could take it before it is used; servers
// that can listen on port 0 should, and tell.
uint16_t free_port();

}  // namespace sluice::test
