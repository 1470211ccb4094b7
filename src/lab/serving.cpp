#include "lab/serving.h"

#include <charconv>
#include <csignal>
#include <cstdio>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>

#include "lab/arguments.h"

namespace sluice::lab {
namespace {

std::optional<uint16_t> port_of(std::string_view text) {
  uint16_t port = 0;
  const auto [stopped, error] = std::from_chars(text.begin(), text.end(), port);
  if (error != std::errc{} || stopped != text.end()) return std::nullopt;
  return port;
}

asio::ip::tcp::endpoint endpoint_of(const std::string& listen) {
  const size_t colon = listen.rfind(':');
  std::string host = listen.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  boost::system::error_code bad;
  const auto address = asio::ip::make_address(host, bad);
  const auto port = colon == std::string::npos ? std::nullopt : port_of(std::string_view(listen).substr(colon + 1));
  if (bad || !port) {
    wrong(fmt::format("--listen takes HOST:PORT, such as 127.0.0.1:0, not {}", listen));
  }
  return {address, *port};
}

}  // namespace

int serve_until_stopped(asio::io_context& context, BareServer& server, const std::string& listen) {
  const asio::ip::tcp::endpoint at = endpoint_of(listen);
  // Before the address is announced: its reader may stop the server at once.
  asio::signal_set signals(context, SIGTERM, SIGINT);
  try {
    fmt::print("listening on {}\n", server.start(at));
  } catch (const boost::system::system_error& error) {
    fmt::print(stderr, "sluice-lab: cannot listen on {}: {}\n", listen, error.code().message());
    return 1;
  }
  std::fflush(stdout);
  signals.async_wait([&](const boost::system::error_code&, int) {
    asio::co_spawn(context, server.close(), [&context](const std::exception_ptr&) { context.stop(); });
  });
  context.run();
  return 0;
}

}  // namespace sluice::lab
