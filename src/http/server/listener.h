// A thread's part of the server: its listening socket and its connections. Internal to the server.
#pragma once

#include <list>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "http/server/connection.h"
#include "runtime/task_scope.h"

namespace sluice::http {

// Made on any thread; afterwards all methods are called on the thread of its loop.
class Listener {
 public:
  using Endpoint = asio::ip::tcp::endpoint;

  // `tls` is null for plain connections.
  Listener(ServerState& server, asio::io_context& context, std::shared_ptr<asio::ssl::context> tls);

  // Binds; throws boost::system::system_error. Any thread, before `run`.
  void open(const Endpoint& endpoint);
  uint16_t port() const { return acceptor_.local_endpoint().port(); }

  void run();
  // Applies to new connections; open ones keep their certificate.
  void use(std::shared_ptr<asio::ssl::context> tls) { tls_ = std::move(tls); }
  // Stops accepting and closes idle connections.
  void drain();
  // Ends every connection now.
  void abort();
  // Waits for the last connection; nothing runs afterwards.
  Task<> close();

  size_t connections() const { return connections_.size(); }

 private:
  using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, asio::io_context::executor_type>;

  Task<> accept();
  Task<> tick();
  // Counts every failure; the first goes to the log, then at most one line a minute.
  void tell_accept_failure(const boost::system::error_code& failed);
  void adopt(Socket socket, Address peer);
  std::optional<ConnectionSlots::Slot> take_slot();
  std::optional<ConnectionSlots::Slot> take_slot_of(ThreadState::Waiting& waiting);

  ThreadState thread_;
  std::shared_ptr<asio::ssl::context> tls_;
  Acceptor acceptor_;
  std::list<std::unique_ptr<Connection>> connections_;
  size_t untold_failures_ = 0;  // to accept, since the last line in the log
  std::optional<Instant> told_failure_;
  asio::steady_timer empty_;  // never fires; cancelled when the last connection ends
  TaskScope scope_;
};

}  // namespace sluice::http
