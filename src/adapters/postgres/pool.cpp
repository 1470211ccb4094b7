#include "adapters/postgres/pool.h"

#include "base/check.h"
#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice::postgres {
namespace {

const metrics::Gauge in_use{"db_pool_in_use", "Connections to the database in use.", {"service"}};

constexpr Backoff reconnect_backoff{.first = 50ms, .factor = 2, .max = 1s};
constexpr Duration pause_after_refusal = 1s;

}  // namespace

Pool::Pool(const PostgresConfig& config, Executor executor, Clock& clock, Random& random, std::function<void()> changed)
    : config_(config),
      executor_(executor),
      clock_(clock),
      random_(random),
      changed_(std::move(changed)),
      scope_(executor),
      in_use_gauge_(in_use.with({config_.service})) {}

void Pool::start() {
  grow(config_.pool_kept);
}

Task<> Pool::close() {
  co_await scope_.close();
  check(in_use_.empty(), "a connection was not returned");
  idle_.clear();
}

std::optional<Pool::Lease> Pool::take() {
  while (!idle_.empty()) {
    const auto lease = idle_.begin();
    lease->connection->unwatch();
    if (!lease->connection->usable()) {
      drop(idle_, lease);
      continue;
    }
    in_use_.splice(in_use_.begin(), idle_, lease);
    lease->since = clock_.now();
    report();
    return lease;
  }
  return std::nullopt;
}

void Pool::give_back(Lease lease) {
  const Instant now = clock_.now();
  const bool keep = lease->connection->usable() && now - lease->opened_at < config_.pool_life;
  if (keep) {
    lease->since = now;
    lease->warned = false;
    idle_.splice(idle_.begin(), in_use_, lease);
    watch(lease);
  } else {
    drop(in_use_, lease);
  }
  report();
  changed_();
}

// The iterator stays valid during the watch: connection and watch leave the idle list together.
void Pool::watch(Lease idle) {
  idle->connection->watch([this, idle] { drop(idle_, idle); });
}

// A refusal means that the server is full only while it has other connections of ours. When the last one has gone,
// waiting callers must learn at once whether the server is up.
void Pool::drop(std::list<Lent>& from, Lease lease) {
  from.erase(lease);
  if (size() == 0) grow_after_ = {};
}

void Pool::grow(size_t wanted) {
  if (down_ || clock_.now() < grow_after_) return;
  while (opening_ < wanted && size() + opening_ < config_.pool_max) {
    ++opening_;
    scope_.spawn("postgres connect", open_one());
  }
}

Task<> Pool::open_one() {
  std::unique_ptr<Connection> connection;
  std::string reason;
  try {
    connection = co_await Connection::open(executor_, config_, clock_);
  } catch (const ConnectionLost& error) {
    reason = error.what();
  } catch (const EngineUnavailable& error) {
    reason = error.what();
  }
  --opening_;
  if (connection) {
    add(std::move(connection));
  } else {
    opening_failed(reason);
  }
}

void Pool::add(std::unique_ptr<Connection> connection) {
  if (down_) log::info("postgres is available again", {{"service", config_.service}, {"url", config_.url}});
  down_ = false;
  grow_after_ = {};
  const Instant now = clock_.now();
  idle_.push_front({.connection = std::move(connection), .opened_at = now, .since = now});
  watch(idle_.begin());
  changed_();
}

// With other connections alive the server is merely full; without, it is down.
void Pool::opening_failed(const std::string& reason) {
  last_error_ = reason;
  grow_after_ = clock_.now() + pause_after_refusal;
  if (size() > 0 || down_) return;
  log::warning("postgres is unavailable", {{"service", config_.service}, {"url", config_.url}, {"error", reason}});
  down_ = true;
  scope_.spawn("postgres reconnect", reconnect());
  changed_();
}

Task<> Pool::reconnect() {
  for (unsigned attempt = 0; down_; ++attempt) {
    const Duration delay = reconnect_backoff.delay(attempt, random_);
    co_await clock_.sleep_for(delay);
    ++opening_;
    co_await open_one();
  }
}

void Pool::tend() {
  const Instant now = clock_.now();
  for (auto it = idle_.begin(); it != idle_.end();) {
    const auto lent = it++;
    const bool old = now - lent->opened_at >= config_.pool_life;
    const bool surplus = size() > config_.pool_kept && now - lent->since >= config_.pool_idle;
    if (old || surplus) drop(idle_, lent);
  }
  for (Lent& lent : in_use_) {
    if (lent.warned || now - lent.since < config_.pool_held_warning) continue;
    lent.warned = true;
    log::warning("a database connection has been in use for a long time",
                 {{"service", config_.service},
                  {"seconds", std::chrono::floor<std::chrono::seconds>(now - lent.since).count()}});
  }
  if (size() + opening_ < config_.pool_kept) grow(config_.pool_kept - size());
}

void Pool::report() const {
  in_use_gauge_.set(static_cast<double>(in_use_.size()));
}

}  // namespace sluice::postgres
