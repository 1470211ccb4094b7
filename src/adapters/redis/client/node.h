// One Redis server: its connections, and a breaker in front of them.
//
// Connects by itself, and again after every loss with growing, jittered delays. A command that arrives during the first
// attempt waits for it; once the server is known to be unavailable commands are refused at once. Belongs to one
// executor.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "adapters/redis/client/connection.h"
#include "runtime/breaker.h"
#include "runtime/clock.h"
#include "runtime/metrics.h"
#include "runtime/task_scope.h"

namespace sluice::redis {

// Shared by all nodes of a client. References must outlive them.
struct NodeContext {
  const Access& access;
  Executor executor;
  Clock& clock;
  Random& random;
  Answers& answers;
  // A connection was lost or could not be made: the cluster may have changed.
  std::function<void()> in_doubt;
};

class Node {
 public:
  Node(Address address, const NodeContext& context);

  void start();
  // Fails pending commands. Close it before destroying it.
  Task<> close();

  const Address& address() const { return address_; }
  bool connected() const;

  // Leaves with the next flush, or is finished with a failure.
  void send(std::shared_ptr<Request> request);
  void flush();

  // Ends requests whose time is up, closes connections that are silent for too long, and returns when to check again.
  Instant expire(Instant now);

 private:
  using ConnectionRef = std::shared_ptr<Connection>;  // null: not connected

  Task<> keep_connected(size_t index);
  Task<> serve(size_t index);
  Task<ConnectionRef> connect();
  ConnectionRef* least_busy();
  void connected_now(size_t index);
  void lost(size_t index);
  void drop_whose_caller_left();
  void refuse(const std::shared_ptr<Request>& request, std::string reason);
  void refuse_waiting(const std::string& reason);
  void answered(const std::shared_ptr<Request>& request, Reply reply);
  void fail(const std::shared_ptr<Request>& request, Failure failure);
  void count(Request& request, bool success);
  void show_breaker();

  const Address address_;
  const NodeContext& context_;
  const RedisConfig& config_;
  CircuitBreaker breaker_;
  std::vector<ConnectionRef> connections_;
  std::deque<std::shared_ptr<Request>> waiting_;  // for the first connection
  std::string down_;                              // why it is unreachable; empty while that is unknown
  bool was_connected_ = false;
  bool closed_ = false;
  TaskScope scope_;
  metrics::GaugeCell& breaker_gauge_;
  metrics::CounterCell& reconnects_;
};

}  // namespace sluice::redis
