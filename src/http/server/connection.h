// Connections of a server. Internal to it.
#pragma once

#include <memory>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ssl/context.hpp>

#include "http/server/server_state.h"
#include "runtime/task.h"

namespace sluice::http {

// A connection as its thread controls it. Belongs to that thread.
class Connection : public IdleConnection {
 public:
  virtual ~Connection() = default;

  // Everything from the first byte to the last; throws only when cancelled.
  virtual Task<> run() = 0;
  // Ends after the current request, or at once if there is none.
  virtual void drain() = 0;
  // Ends now.
  virtual void abort() = 0;

  asio::cancellation_slot cancellation() { return cancel_.slot(); }

 protected:
  asio::cancellation_signal cancel_;
};

std::unique_ptr<Connection> make_connection(ThreadState& thread, Socket socket, Address peer,
                                            ConnectionSlots::Slot slot);
std::unique_ptr<Connection> make_tls_connection(ThreadState& thread, Socket socket, Address peer,
                                                ConnectionSlots::Slot slot, asio::ssl::context& tls);

// Tells a client that there are too many connections, and closes. Bytes that the socket does not take at once are not
// sent.
void turn_away(Socket& socket);

}  // namespace sluice::http
