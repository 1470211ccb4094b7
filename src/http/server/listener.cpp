#include "http/server/listener.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <netinet/tcp.h>

#include "base/check.h"
#include "runtime/log.h"

namespace sluice::http {
namespace {

constexpr int backlog = 4096;
// More than this many missed ticks are not made up for.
constexpr int ticks_at_once = 50;

using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

void tell_unless_cancelled(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    if (error.code() != asio::error::operation_aborted) log::error("connection failed", {{"error", error.what()}});
  } catch (const std::exception& error) {
    log::error("connection failed", {{"error", error.what()}});
  }
}

}  // namespace

Listener::Listener(ServerState& server, asio::io_context& context, std::shared_ptr<asio::ssl::context> tls)
    : thread_(server, context),
      tls_(std::move(tls)),
      acceptor_(context),
      empty_(context, asio::steady_timer::time_point::max()),
      scope_(context.get_executor()) {}

void Listener::open(const Endpoint& endpoint) {
  acceptor_.open(endpoint.protocol());
  acceptor_.set_option(asio::socket_base::reuse_address(true));
  acceptor_.set_option(ReusePort(true));
  acceptor_.bind(endpoint);
  acceptor_.listen(backlog);
}

void Listener::run() {
  scope_.spawn("accept", accept());
  scope_.spawn("tick", tick());
}

Task<> Listener::accept() {
  while (acceptor_.is_open()) {
    Socket socket(thread_.context);
    Endpoint peer;
    boost::system::error_code failed;
    co_await acceptor_.async_accept(socket, peer, asio::redirect_error(asio::use_awaitable, failed));
    if (!acceptor_.is_open()) co_return;
    if (failed) {
      // Out of descriptors, most likely: open connections will close, and the kernel's queue keeps the waiting ones.
      tell_accept_failure(failed);
      co_await thread_.server.clock.sleep_for(thread_.server.config.tick);
      continue;
    }
    adopt(std::move(socket), peer.address());
  }
}

void Listener::tell_accept_failure(const boost::system::error_code& failed) {
  count_accept_failure();
  ++untold_failures_;
  const Instant now = thread_.server.clock.now();
  if (told_failure_ && now - *told_failure_ < 1min) return;
  log::warning("accept failed", {{"error", failed.message()}, {"times", untold_failures_}});
  told_failure_ = now;
  untold_failures_ = 0;
}

void Listener::adopt(Socket socket, Address peer) {
  boost::system::error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  auto slot = take_slot();
  if (!slot) return turn_away(socket);
  // The client's address of a proxy's connection is known later.
  const bool is_client = !thread_.server.proxy_protocol_from.contains(peer);
  if (is_client && !slot->count_for(peer)) return turn_away(socket);
  auto made = tls_ != nullptr
                  ? make_tls_connection(thread_, std::move(socket), std::move(peer), std::move(*slot), *tls_)
                  : make_connection(thread_, std::move(socket), std::move(peer), std::move(*slot));
  const auto self = connections_.insert(connections_.end(), std::move(made));
  // Like a TaskScope, with a signal of its own for each: a handler that is late is cancelled alone.
  asio::co_spawn(thread_.context, (*self)->run(),
                 asio::bind_cancellation_slot((*self)->cancellation(), [this, self](const std::exception_ptr& error) {
                   if (error) tell_unless_cancelled(error);
                   connections_.erase(self);
                   if (connections_.empty()) empty_.cancel();
                 }));
}

// When all slots are in use, the connection that has been idle for the longest time is closed; if none is idle, the one
// that has waited longest for the rest of a body. Only connections of this thread are considered: other threads own
// their lists, and the kernel spreads connections evenly.
std::optional<ConnectionSlots::Slot> Listener::take_slot() {
  if (auto slot = thread_.server.slots->take()) return slot;
  if (auto slot = take_slot_of(thread_.idle)) return slot;
  if (auto slot = take_slot_of(thread_.receiving)) return slot;
  count_rejected("connections");
  return std::nullopt;
}

std::optional<ConnectionSlots::Slot> Listener::take_slot_of(ThreadState::Waiting& waiting) {
  constexpr int asked_at_most = 16;
  auto next = waiting.begin();
  for (int asked = 0; asked < asked_at_most && next != waiting.end(); ++asked) {
    IdleConnection& longest = *next++;
    if (!longest.make_room()) continue;
    count_rejected("idle_connection");
    if (auto slot = thread_.server.slots->take()) return slot;
  }
  return std::nullopt;
}

Task<> Listener::tick() {
  const Clock& clock = thread_.server.clock;
  Instant next = clock.now() + thread_.wheel.tick();
  while (true) {
    co_await thread_.server.clock.sleep_until(next);
    thread_.refresh_date();
    in_flight_gauge().set(static_cast<double>(thread_.server.in_flight.load(std::memory_order_relaxed)));
    body_memory_gauge().set(static_cast<double>(thread_.server.body_memory.used()));
    // Time in which this thread stood still is not the clients': they could not be heard.
    const Instant now = clock.now();
    next = std::max(next, now - ticks_at_once * thread_.wheel.tick());
    for (; next <= now; next += thread_.wheel.tick()) thread_.wheel.advance();
  }
}

void Listener::drain() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  for (const auto& connection : connections_) connection->drain();
}

void Listener::abort() {
  for (const auto& connection : connections_) connection->abort();
}

Task<> Listener::close() {
  while (!connections_.empty()) {
    boost::system::error_code woken;
    co_await empty_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  }
  co_await scope_.close();
}

}  // namespace sluice::http
