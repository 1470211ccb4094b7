#include "adapters/postgres/dispatcher.h"

#include <boost/asio/post.hpp>

#include "adapters/postgres/batch.h"
#include "adapters/postgres/transaction.h"
#include "runtime/metrics.h"
#include "runtime/pending_call.h"

namespace sluice::postgres {
namespace {

const metrics::Gauge waiting{"db_pool_waiting", "Calls waiting for a connection to the database.", {"service"}};
const metrics::Histogram duration{"db_query_duration_seconds",
                                  "Time from a call to the database's response, including the wait for a connection.",
                                  {"service", "kind"}};

}  // namespace

Dispatcher::Dispatcher(const PostgresConfig& config, Executor executor, Clock& clock, uint64_t seed)
    : config_(config),
      executor_(executor),
      clock_(clock),
      random_(seed),
      pool_(config_, executor, clock, random_, [this] { dispatch(); }),
      scope_(executor),
      waiting_gauge_(waiting.with({config_.service})),
      durations_{&duration.with({config_.service, "read"}), &duration.with({config_.service, "write"}),
                 &duration.with({config_.service, "transaction"})} {}

void Dispatcher::start() {
  pool_.start();
  scope_.spawn("postgres tend", tend());
}

Task<> Dispatcher::close() {
  closed_ = true;
  refuse_all("shutting down");
  co_await scope_.close();
  co_await pool_.close();
}

Task<> Dispatcher::perform(std::shared_ptr<Request> request) {
  if (admitted_.fetch_add(1) >= config_.max_waiting) {
    admitted_.fetch_sub(1);
    throw Overloaded(engine_name);
  }
  request->queued_at = clock_.now();
  const auto submitting = [this](std::shared_ptr<Request> ready) { submit(std::move(ready)); };
  co_await await_request(request, submitting);
  const std::chrono::duration<double> took = clock_.now() - request->queued_at;
  durations_[static_cast<size_t>(request->kind)]->observe(took.count());
}

void Dispatcher::submit(std::shared_ptr<Request> request) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = submitted_.empty();
    submitted_.push_back(std::move(request));
  }
  if (first) asio::post(executor_, [this] { take_submitted(); });
}

void Dispatcher::take_submitted() {
  Requests submitted;
  {
    const std::lock_guard lock(mutex_);
    submitted.swap(submitted_);
  }
  for (auto& request : submitted) queues_[static_cast<size_t>(request->kind)].waiting.push_back(std::move(request));
  dispatch();
}

void Dispatcher::dispatch() {
  if (closed_) return refuse_all("shutting down");
  if (pool_.down()) return refuse_all(pool_.last_error());
  while (Queue* queue = oldest_ready()) {
    const auto lease = pool_.take();
    if (!lease) {
      pool_.grow(connections_wanted());
      break;
    }
    Requests requests = take_from(*queue);
    ++queue->connections;
    scope_.spawn("postgres work", work(*lease, *queue, std::move(requests)));
  }
  report();
}

Dispatcher::Queue* Dispatcher::oldest_ready() {
  Queue* oldest = nullptr;
  for (Queue& queue : queues_) {
    while (!queue.waiting.empty() && queue.waiting.front()->left()) {
      queue.waiting.pop_front();
      admitted_.fetch_sub(1);
    }
    if (queue.waiting.empty()) continue;
    const bool batched = queue.waiting.front()->kind != RequestKind::transaction;
    if (batched && queue.connections >= config_.batch_connections) continue;
    if (oldest == nullptr || queue.waiting.front()->queued_at < oldest->waiting.front()->queued_at) oldest = &queue;
  }
  return oldest;
}

size_t Dispatcher::connections_wanted() const {
  size_t wanted = 0;
  for (const Queue& queue : queues_) {
    if (queue.waiting.empty()) continue;
    const bool batched = queue.waiting.front()->kind != RequestKind::transaction;
    wanted += batched ? 1 : queue.waiting.size();
  }
  return wanted;
}

// A transaction alone, or a batch. Those whose callers have left are dropped here.
Requests Dispatcher::take_from(Queue& queue) {
  Requests taken;
  const size_t limit = queue.waiting.front()->kind == RequestKind::transaction ? 1 : config_.batch_max;
  while (!queue.waiting.empty() && taken.size() < limit) {
    if (queue.waiting.front()->start()) taken.push_back(std::move(queue.waiting.front()));
    queue.waiting.pop_front();
    admitted_.fetch_sub(1);
  }
  return taken;
}

Task<> Dispatcher::work(Pool::Lease lease, Queue& queue, Requests requests) {
  Connection& connection = *lease->connection;
  try {
    if (requests.empty()) {
      // All callers have left meanwhile.
    } else if (requests.front()->kind == RequestKind::transaction) {
      co_await run_transaction(connection, config_, clock_, random_, requests.front());
    } else {
      co_await run_batch(connection, config_, std::move(requests));
    }
  } catch (const boost::system::system_error&) {
    // Cancelled by close.
  }
  --queue.connections;
  pool_.give_back(lease);
}

Task<> Dispatcher::tend() {
  const Duration shortest =
      std::min({config_.pool_timeout, config_.pool_idle, config_.pool_life, config_.pool_held_warning});
  const Duration pause = std::clamp<Duration>(shortest / 4, 10ms, 1s);
  while (true) {
    co_await clock_.sleep_for(pause);
    pool_.tend();
    const Instant too_old = clock_.now() - config_.pool_timeout;
    for (Queue& queue : queues_) {
      const auto kept =
          std::ranges::find_if(queue.waiting, [&](const auto& request) { return request->queued_at > too_old; });
      refuse(queue.waiting, static_cast<size_t>(kept - queue.waiting.begin()), "no connection became free in time");
    }
    dispatch();
  }
}

void Dispatcher::refuse_all(const std::string& reason) {
  for (Queue& queue : queues_) refuse(queue.waiting, queue.waiting.size(), reason);
  report();
}

void Dispatcher::refuse(std::deque<std::shared_ptr<Request>>& requests, size_t count, const std::string& reason) {
  if (count == 0) return;
  Requests refused;
  for (; count > 0; --count) {
    requests.front()->fail(CallError(std::make_exception_ptr(EngineUnavailable(engine_name, reason))));
    refused.push_back(std::move(requests.front()));
    requests.pop_front();
    admitted_.fetch_sub(1);
  }
  answer(refused);
}

void Dispatcher::report() const {
  waiting_gauge_.set(static_cast<double>(admitted_.load()));
}

}  // namespace sluice::postgres
