// State shared by the connections of a server: the server's part and the thread's part. Internal to the server.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/intrusive/list.hpp>

#include "base/random.h"
#include "http/gzip.h"
#include "http/server/body_memory.h"
#include "http/server/networks.h"
#include "http/server/router.h"
#include "http/server/server_config.h"
#include "http/server/server_metrics.h"
#include "http/server/timer_wheel.h"
#include "runtime/clock.h"

namespace sluice::http {

// Sockets with the loop's own executor: Asio's general one costs an indirection per operation.
using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;

// The number of open connections, in total and per address; an IPv6 /64 counts as one address, since one client usually
// has one. Outlives the server: connections that were taken over may still hold a slot. Thread-safe.
class ConnectionSlots : public std::enable_shared_from_this<ConnectionSlots> {
 public:
  // Given back when destroyed.
  class Slot {
   public:
    explicit Slot(std::shared_ptr<ConnectionSlots> slots) : slots_(std::move(slots)) {}
    Slot(Slot&&) = default;
    Slot& operator=(Slot&&) = delete;
    ~Slot() { give_back(); }

    // Counts the connection as one of the address, once that is known. False, and counted as a refusal, when the
    // address has as many as it may.
    bool count_for(const Address& address);
    // Before its time.
    void give_back();

   private:
    std::shared_ptr<ConnectionSlots> slots_;
    std::unique_ptr<Address> address_;  // only where addresses are counted
  };

  ConnectionSlots(size_t max, size_t max_per_address) : max_(max), max_per_address_(max_per_address) {}

  // Nothing when there is no room.
  std::optional<Slot> take();

 private:
  bool add(const Address& address);
  void remove(const Address& address);

  size_t max_;
  size_t max_per_address_;
  std::atomic<size_t> open_{0};
  std::mutex mutex_;
  std::map<Address, size_t> by_address_;
};

// The server's part; immutable after the start but for its counters.
struct ServerState {
  ServerState(ServerConfig server_config, Router server_router, Clock& server_clock);

  RouteMetrics& unmatched(std::optional<Method> method) {
    return *unmatched_[method ? static_cast<size_t>(*method) : 7];
  }

  ServerConfig config;
  Router router;
  Clock& clock;
  Networks trusted_proxies;
  Networks proxy_protocol_from;
  std::shared_ptr<ConnectionSlots> slots;
  std::atomic<size_t> in_flight{0};
  BodyMemory body_memory;
  std::atomic<bool> draining{false};

 private:
  std::array<std::unique_ptr<RouteMetrics>, 8> unmatched_;
};

// A connection that waits for its client, and can be closed to make room for another. It is in one of its thread's
// lists while it waits.
class IdleConnection
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  // Closes the connection and gives its slot back at once. False where bytes of a request are there.
  virtual bool make_room() = 0;

 protected:
  ~IdleConnection() = default;
};

// The thread's part.
struct ThreadState {
  ThreadState(ServerState& server_state, asio::io_context& loop);

  // To be called with every tick.
  void refresh_date();
  Gzip& gzip();

  ServerState& server;
  asio::io_context& context;
  TimerWheel wheel;
  using Waiting = boost::intrusive::list<IdleConnection, boost::intrusive::constant_time_size<false>>;
  // Connections without a request to handle, in the order in which they began to wait.
  Waiting idle;
  // Connections that wait for more of a request body, in the order of their last bytes.
  Waiting receiving;
  SeededRandom random;
  std::string date;  // "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

 private:
  std::unique_ptr<Gzip> gzip_;
  int64_t date_second_ = -1;
};

}  // namespace sluice::http
