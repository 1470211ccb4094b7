// Brings calls and connections together, for one PostgreSQL.
//
// Calls come from any thread and wait in three queues: reads, writes, transactions. Whenever a connection is free the
// longest waiting call gets it; a read or a write takes along all others of its kind, up to a batch. Calls that arrive
// during a batch form the next, so batches grow with the load and a lone call never waits for others.
//
// Refused at once: calls beyond `max_waiting` (Overloaded) and all calls while the server is known to be down. A call
// that waited `pool_timeout` for a connection fails.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <mutex>

#include "adapters/postgres/pool.h"
#include "adapters/postgres/request.h"

namespace sluice::postgres {

class Dispatcher {
 public:
  // References must outlive it. Everything but `perform` happens on `executor`, which one thread runs.
  Dispatcher(const PostgresConfig& config, Executor executor, Clock& clock, uint64_t seed);

  // Starts connecting.
  void start();
  // Fails waiting calls, aborts running ones, closes the connections.
  Task<> close();

  // From any thread: runs the request and resumes on the caller's executor when it has ended. Throws Overloaded.
  Task<> perform(std::shared_ptr<Request> request);

 private:
  struct Queue {
    std::deque<std::shared_ptr<Request>> waiting;
    size_t connections = 0;  // that work for this queue now
  };

  void submit(std::shared_ptr<Request> request);
  void take_submitted();
  void dispatch();
  Queue* oldest_ready();
  size_t connections_wanted() const;
  Requests take_from(Queue& queue);
  Task<> work(Pool::Lease lease, Queue& queue, Requests requests);
  Task<> tend();
  void refuse_all(const std::string& reason);
  void refuse(std::deque<std::shared_ptr<Request>>& requests, size_t count, const std::string& reason);
  void report() const;

  const PostgresConfig& config_;
  Executor executor_;
  Clock& clock_;
  SeededRandom random_;
  Pool pool_;
  TaskScope scope_;
  std::array<Queue, 3> queues_;  // by RequestKind

  std::atomic<size_t> admitted_ = 0;  // submitted and not yet on a connection
  std::mutex mutex_;
  Requests submitted_;  // guarded by mutex_
  bool closed_ = false;

  metrics::GaugeCell& waiting_gauge_;
  std::array<metrics::HistogramCell*, 3> durations_;  // by RequestKind
};

}  // namespace sluice::postgres
