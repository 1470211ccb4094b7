#include "http/server/socket_calls.h"

#include <array>

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace sluice::http {

size_t send_now(int descriptor, std::string_view head, std::string_view body) {
  ssize_t sent = 0;
  if (body.empty()) {
    sent = ::send(descriptor, head.data(), head.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  } else {
    std::array<iovec, 2> parts{
        {{const_cast<char*>(head.data()), head.size()}, {const_cast<char*>(body.data()), body.size()}}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    sent = ::sendmsg(descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  return sent > 0 ? static_cast<size_t>(sent) : 0;
}

std::optional<size_t> unacknowledged(int descriptor) {
  int bytes = 0;
  if (::ioctl(descriptor, SIOCOUTQ, &bytes) != 0) return std::nullopt;
  return static_cast<size_t>(bytes);
}

bool has_hung_up(int descriptor) {
  pollfd look{.fd = descriptor, .events = POLLRDHUP, .revents = 0};
  return ::poll(&look, 1, 0) > 0;
}

bool has_unread(int descriptor) {
  int bytes = 0;
  return ::ioctl(descriptor, FIONREAD, &bytes) == 0 && bytes > 0;
}

}  // namespace sluice::http
