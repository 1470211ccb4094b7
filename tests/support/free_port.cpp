#include "tests/support/free_port.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace sluice::test {

uint16_t free_port() {
  using boost::asio::ip::tcp;
  boost::asio::io_context context;
  const tcp::acceptor acceptor(context, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  return acceptor.local_endpoint().port();
}

}  // namespace sluice::test
