#include "tests/support/free_port.h"

#include <mutex>
#include <set>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace sluice::test {

// The kernel may give a port again as soon as it is closed; whoever asks twice wants two.
uint16_t free_port() {
  using boost::asio::ip::tcp;
  static std::mutex mutex;
  static std::set<uint16_t> given;
  boost::asio::io_context context;
  while (true) {
    const tcp::acceptor acceptor(context, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    const uint16_t port = acceptor.local_endpoint().port();
    const std::lock_guard lock(mutex);
    if (given.insert(port).second) return port;
  }
}

}  // namespace sluice::test
