// A port without a listener.
#pragma once

#include <cstdint>

namespace sluice::test {

// It stays the caller's until this process ends: no other test program is given it, and no connection that leaves this
// machine gets it while its server is down. Servers that can listen on port 0 should, and tell.
uint16_t free_port();

}  // namespace sluice::test
