#include "runtime/look_up.h"

#include <boost/asio/ip/tcp.hpp>

#include "runtime/wakeup.h"

namespace sluice {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

// A name being looked up. getaddrinfo cannot be interrupted, so a caller that runs out of time leaves the search
// behind: it ends by itself and keeps this alive until then.
struct Search {
  explicit Search(const Executor& executor) : resolver(executor), ended(executor) {}

  tcp::resolver resolver;
  Wakeup ended;
  bool done = false;
  error_code error;
  tcp::resolver::results_type found;
};

// Withdraws a search that waits behind others when its caller leaves.
struct Withdraw {
  explicit Withdraw(Search& search) : search_(search) {}
  ~Withdraw() { search_.resolver.cancel(); }
  Withdraw(const Withdraw&) = delete;
  Withdraw& operator=(const Withdraw&) = delete;

 private:
  Search& search_;
};

}  // namespace

Task<std::vector<asio::ip::address>> look_up(std::string host) {
  error_code no_address;
  const auto address = asio::ip::make_address(host, no_address);
  if (!no_address) co_return std::vector<asio::ip::address>{address};

  const Executor executor = co_await asio::this_coro::executor;
  const auto search = std::make_shared<Search>(executor);
  search->resolver.async_resolve(host, "", [search](const error_code& error, tcp::resolver::results_type found) {
    search->done = true;
    search->error = error;
    search->found = std::move(found);
    search->ended.notify_all();
  });
  const Withdraw withdraw(*search);
  while (!search->done) co_await search->ended.wait();
  if (search->error) throw HostNotFound(fmt::format("{}: {}", host, search->error.message()));
  std::vector<asio::ip::address> addresses;
  for (const auto& entry : search->found) addresses.push_back(entry.endpoint().address());
  co_return addresses;
}

}  // namespace sluice
