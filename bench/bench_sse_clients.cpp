// Subscribers for bench/sse: opens N event streams, reads and discards all data until its input ends.
//
//   bench_sse_clients PORT N
#include <cstdio>
#include <cstdlib>
#include <string>

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

int subscribe(uint16_t port, int number) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (descriptor < 0 || ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::perror("connect");
    std::exit(1);
  }
  // A subscriber is named like a user: by a UUID.
  char name[37];
  std::snprintf(name, sizeof name, "018f4e1c-6d2a-7c3e-9f10-%012d", number);
  const std::string request = "GET /stream?" + std::string(name) + " HTTP/1.1\r\nHost: bench\r\n\r\n";
  if (::send(descriptor, request.data(), request.size(), MSG_NOSIGNAL) < 0) std::perror("send");
  return descriptor;
}

}  // namespace

int main(int, char** arguments) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const auto port = static_cast<uint16_t>(std::atoi(arguments[1]));
  const int count = std::atoi(arguments[2]);

  const int poll = ::epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = 0;
  ::epoll_ctl(poll, EPOLL_CTL_ADD, 0, &event);
  for (int i = 0; i < count; ++i) {
    event.data.fd = subscribe(port, i);
    ::epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event);
  }
  while (true) {
    epoll_event ready[256];
    const int found = ::epoll_wait(poll, ready, 256, -1);
    for (int i = 0; i < found; ++i) {
      char bytes[4096];
      const ssize_t got = ::read(ready[i].data.fd, bytes, sizeof bytes);
      if (got > 0) continue;
      if (ready[i].data.fd == 0) return 0;
      ::close(ready[i].data.fd);
    }
  }
}
