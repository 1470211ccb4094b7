#include "http/client/client_pool.h"

#include "base/check.h"
#include "http/client/client.h"

namespace sluice::http {

// In line until a place was handed over, or the call gave up.
struct ClientPool::Waiter {
  Waiter(ClientPool& of, std::string wanted) : pool(of), origin(std::move(wanted)), handed_over(of.executor_) {
    at = pool.waiting_.insert(pool.waiting_.end(), this);
  }
  ~Waiter() {
    if (!has_place) {
      pool.waiting_.erase(at);
    } else if (!taken) {
      pool.leave(origin);  // cancelled just as its turn had come
    }
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  ClientPool& pool;
  std::string origin;
  Wakeup handed_over;
  std::list<Waiter*>::iterator at;
  bool has_place = false;
  bool taken = false;
};

ClientPool::Place::~Place() {
  connection.reset();
  if (pool_ != nullptr) pool_->leave(origin_);
}

void ClientPool::Place::keep() {
  ClientPool& pool = *std::exchange(pool_, nullptr);
  pool.idle_.push_back({.origin = origin_, .connection = std::move(connection), .since = pool.clock_.now()});
  if (pool.scope_.closed()) pool.idle_.clear();
  if (!pool.idle_.empty() && !pool.sweeping_) {
    pool.sweeping_ = true;
    pool.scope_.spawn("http client: unused connections", pool.sweep());
  }
  pool.leave(origin_);
}

ClientPool::ClientPool(Executor executor, Clock& clock, const ClientOptions& options)
    : executor_(executor), clock_(clock), options_(options), scope_(std::move(executor)) {}

ClientPool::~ClientPool() {
  check_that(in_use_total_ == 0, "{} connections are still in use when their client is destroyed", in_use_total_);
}

Task<ClientPool::Place> ClientPool::enter(std::string origin, bool new_connection) {
  if (has_room(origin) && !is_waited_for(origin)) {
    take_place(origin);
  } else {
    if (waiting_.size() >= options_.max_waiting) {
      throw CallFailed(ClientError::Kind::busy,
                       fmt::format("too many calls are waiting for a connection to {}", origin));
    }
    Waiter waiter(*this, origin);
    while (!waiter.has_place) co_await waiter.handed_over.wait();
    waiter.taken = true;
  }
  Place place(*this, origin);
  if (new_connection) {
    drop_idle(origin);
  } else {
    place.connection = take_idle(origin);
  }
  if (!place.connection) make_room_for(origin);
  co_return place;
}

Task<> ClientPool::close() {
  co_await scope_.close();
  idle_.clear();
}

bool ClientPool::has_room(const std::string& origin) const {
  if (in_use_total_ >= options_.max_connections) return false;
  const auto found = in_use_.find(origin);
  return found == in_use_.end() || found->second < options_.max_per_origin;
}

bool ClientPool::is_waited_for(const std::string& origin) const {
  return std::ranges::any_of(waiting_, [&origin](const Waiter* waiter) { return waiter->origin == origin; });
}

void ClientPool::take_place(const std::string& origin) {
  ++in_use_[origin];
  ++in_use_total_;
}

void ClientPool::leave(const std::string& origin) {
  const auto found = in_use_.find(origin);
  check(found != in_use_.end(), "a connection slot is released twice");
  --in_use_total_;
  if (--found->second == 0) in_use_.erase(found);
  const auto next = std::ranges::find_if(waiting_, [this](const Waiter* waiter) { return has_room(waiter->origin); });
  if (next == waiting_.end()) return;
  Waiter& waiter = **next;
  waiting_.erase(next);
  waiter.has_place = true;
  take_place(waiter.origin);
  waiter.handed_over.notify_all();
}

// The one used last: the others may then grow old and go.
std::unique_ptr<ClientConnection> ClientPool::take_idle(const std::string& origin) {
  for (auto it = idle_.end(); it != idle_.begin();) {
    --it;
    if (it->origin != origin) continue;
    std::unique_ptr<ClientConnection> connection = std::move(it->connection);
    it = idle_.erase(it);
    if (connection->usable()) return connection;
  }
  return nullptr;
}

void ClientPool::drop_idle(const std::string& origin) {
  std::erase_if(idle_, [&origin](const Idle& idle) { return idle.origin == origin; });
}

// Unused connections count too: the oldest of them goes where the limit would be passed.
void ClientPool::make_room_for(const std::string& origin) {
  const auto of_origin = [&origin](const Idle& idle) { return idle.origin == origin; };
  if (in_use_.at(origin) + static_cast<size_t>(std::ranges::count_if(idle_, of_origin)) > options_.max_per_origin) {
    idle_.erase(std::ranges::find_if(idle_, of_origin));
  }
  if (in_use_total_ + idle_.size() > options_.max_connections) idle_.pop_front();
}

Task<> ClientPool::sweep() {
  while (!idle_.empty()) {
    const Instant ends = idle_.front().since + options_.idle;
    co_await clock_.sleep_until(ends);
    while (!idle_.empty() && idle_.front().since + options_.idle <= clock_.now()) idle_.pop_front();
  }
  sweeping_ = false;
}

}  // namespace sluice::http
