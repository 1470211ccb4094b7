// The connections to one PostgreSQL: opened when wanted, kept for a while, replaced when old or broken.
//
// While the server is unreachable the pool is down: it fails callers at once instead of letting them wait, and
// reconnects by itself with growing, jittered delays. Belongs to one executor.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "adapters/postgres/connection.h"
#include "base/random.h"
#include "runtime/clock.h"
#include "runtime/metrics.h"
#include "runtime/retry.h"
#include "runtime/task_scope.h"

namespace sluice::postgres {

class Pool {
 public:
  // `changed` is called when a connection has become free or the pool has gone down or come up. References must outlive
  // it. Close it before destroying it.
  Pool(const PostgresConfig& config, Executor executor, Clock& clock, Random& random, std::function<void()> changed);

  // Starts to keep the kept ones open.
  void start();
  // Every connection must have been given back.
  Task<> close();

  struct Lent {
    std::unique_ptr<Connection> connection;
    Instant opened_at{};
    Instant since{};  // when it became idle, or was taken
    bool warned = false;
  };
  using Lease = std::list<Lent>::iterator;

  // An idle connection, if there is one; it goes back with `give_back`.
  std::optional<Lease> take();
  void give_back(Lease lease);

  // Calls are waiting: opens up to `wanted` more connections at once, within the pool's limit.
  void grow(size_t wanted);

  bool down() const { return down_; }
  const std::string& last_error() const { return last_error_; }
  size_t size() const { return idle_.size() + in_use_.size(); }

  // To be called now and then: ends connections that are old or idle for long, opens kept ones, warns about long use.
  void tend();

 private:
  Task<> open_one();
  Task<> reconnect();
  void add(std::unique_ptr<Connection> connection);
  void opening_failed(const std::string& reason);
  void watch(Lease idle);
  void drop(std::list<Lent>& from, Lease lease);
  void report() const;

  const PostgresConfig& config_;
  Executor executor_;
  Clock& clock_;
  Random& random_;
  std::function<void()> changed_;
  TaskScope scope_;
  std::list<Lent> idle_;  // the most recently used first, so that the rest can end
  std::list<Lent> in_use_;
  size_t opening_ = 0;
  bool down_ = false;
  Instant grow_after_{};
  std::string last_error_;
  metrics::GaugeCell& in_use_gauge_;
};

}  // namespace sluice::postgres
