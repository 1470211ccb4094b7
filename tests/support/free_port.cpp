#include "tests/support/free_port.h"

#include <fstream>
#include <random>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"

namespace sluice::test {
namespace {

// The kernel gives the ports of its own range to every connection that leaves this machine, also while the server that
// was given one is yet to start, or is between two starts. So ours are below that range.
constexpr int lowest = 10'000;

int end_of_range() {
  int end = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> end;
  return end > lowest + 1'000 ? end : 32'768;
}

// Marks the port as taken for as long as this process lives, since other test programs look for ports at the same time.
// The mark ends with the process, also after a crash.
bool reserve(int port) {
  const int mark = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  check(mark >= 0, "socket");
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = "sluice-test-port-" + std::to_string(port);
  text.copy(name.sun_path + 1, sizeof name.sun_path - 1);  // behind a zero: it is no file
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  if (bind(mark, reinterpret_cast<const sockaddr*>(&name), size) == 0) return true;
  close(mark);
  return false;
}

bool is_free(int port) {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  check(probe >= 0, "socket");
  const int on = 1;
  setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const bool bound =
      bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && listen(probe, 1) == 0;
  close(probe);
  return bound;
}

}  // namespace

uint16_t free_port() {
  static const int end = end_of_range();
  std::random_device random;
  std::uniform_int_distribution<int> some(lowest, end - 1);
  while (true) {
    const int port = some(random);
    if (reserve(port) && is_free(port)) return static_cast<uint16_t>(port);
  }
}

}  // namespace sluice::test
