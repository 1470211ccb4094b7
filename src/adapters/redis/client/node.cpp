#include "adapters/redis/client/node.h"

#include "adapters/redis/client/redis.h"
#include "runtime/deadline.h"
#include "runtime/log.h"
#include "runtime/retry.h"

namespace sluice::redis {
namespace {

const metrics::Gauge breaker_state{
    "redis_circuit_breaker_state", "State of the breaker of a Redis node: 0 closed, 1 half-open, 2 open.", {"node"}};
const metrics::Counter reconnects{"redis_reconnects_total", "Reconnections to a Redis node.", {"node"}};

// A server that lets us in and throws us out at once must not be asked without pause.
constexpr Duration shortest_good_life = 1s;

// Errors that say that the server can't work, not that the command is wrong.
bool says_unwell(const Reply& reply) {
  if (!reply.is_error()) return false;
  for (const char* code : {"LOADING", "MASTERDOWN", "CLUSTERDOWN", "MISCONF", "BUSY ", "OOM"}) {
    if (reply.error().starts_with(code)) return true;
  }
  return false;
}

double shown(CircuitBreaker::State state) {
  switch (state) {
    case CircuitBreaker::State::closed: return 0;
    case CircuitBreaker::State::half_open: return 1;
    case CircuitBreaker::State::open: return 2;
  }
  return 0;
}

}  // namespace

Node::Node(Address address, const NodeContext& context)
    : address_(std::move(address)),
      context_(context),
      config_(context.access.config),
      breaker_(config_.breaker),
      connections_(config_.connections),
      scope_(context.executor),
      breaker_gauge_(breaker_state.with({address_.to_string()})),
      reconnects_(reconnects.with({address_.to_string()})) {}

void Node::start() {
  for (size_t index = 0; index < connections_.size(); ++index) scope_.spawn("redis connection", keep_connected(index));
}

Task<> Node::close() {
  closed_ = true;
  down_ = "shutting down";
  co_await scope_.close();
  refuse_waiting(down_);
  for (size_t index = 0; index < connections_.size(); ++index) lost(index);
}

bool Node::connected() const {
  return std::ranges::any_of(connections_, [](const ConnectionRef& connection) { return connection != nullptr; });
}

Task<> Node::keep_connected(size_t index) {
  return run_forever(
      "redis " + address_.to_string(), context_.clock, context_.random, [this, index] { return serve(index); },
      config_.reconnect);
}

Task<Node::ConnectionRef> Node::connect() {
  const Deadline deadline = Deadline::after(context_.clock, config_.connect_timeout);
  Task<std::unique_ptr<Wire>> opening = Wire::open(context_.access, address_);
  try {
    std::unique_ptr<Wire> wire =
        co_await with_deadline(context_.clock, deadline, address_.to_string(), std::move(opening));
    co_return std::make_shared<Connection>(std::move(wire), config_.command_timeout);
  } catch (const EngineUnavailable& error) {
    if (!connected()) {
      down_ = reason_of(error);
      refuse_waiting(down_);
      context_.in_doubt();
    }
    throw;
  }
}

Task<> Node::serve(size_t index) {
  const ConnectionRef connection = co_await connect();
  connections_[index] = connection;
  const Instant since = context_.clock.now();
  connected_now(index);
  std::exception_ptr end;
  try {
    co_await connection->serve(
        [this](const std::shared_ptr<Request>& request, Reply reply) { answered(request, std::move(reply)); });
  } catch (const EngineUnavailable& error) {
    if (context_.clock.now() - since < shortest_good_life) end = std::current_exception();
    log::warning("lost a connection to Redis", {{"node", address_.to_string()}, {"error", error.what()}});
  }
  lost(index);
  if (end) std::rethrow_exception(end);
}

void Node::connected_now(size_t index) {
  if (was_connected_) reconnects_.add();
  was_connected_ = true;
  down_.clear();
  // A server that accepts a login is worth a try, even while its breaker is open.
  breaker_.sign_of_life(context_.clock.now());
  show_breaker();
  const Instant now = context_.clock.now();
  drop_whose_caller_left();
  for (auto& request : std::exchange(waiting_, {})) connections_[index]->send(std::move(request), now);
  connections_[index]->flush();
}

void Node::lost(size_t index) {
  if (!connections_[index]) return;
  const Connection::Abandoned abandoned = std::exchange(connections_[index], nullptr)->abandon();
  const std::string which = address_.to_string();
  for (const auto& request : abandoned.sent) {
    fail(request,
         {Failure::Kind::unknown,
          fmt::format("{}: the connection was lost before the reply; whether the command ran is unknown", which)});
  }
  for (const auto& request : abandoned.not_sent) {
    fail(request, {Failure::Kind::not_sent, fmt::format("{}: the connection was lost", which)});
  }
  if (!closed_) context_.in_doubt();
}

Node::ConnectionRef* Node::least_busy() {
  ConnectionRef* best = nullptr;
  for (ConnectionRef& connection : connections_) {
    if (connection && (best == nullptr || connection->unanswered() < (*best)->unanswered())) best = &connection;
  }
  return best;
}

void Node::send(std::shared_ptr<Request> request) {
  const Instant now = context_.clock.now();
  if (request->deadline <= now) return refuse(request, "timed out before the command was sent");
  if (!breaker_.allow(now)) {
    refuse(request, fmt::format("{} is not called because its breaker is open", address_.to_string()));
    return;
  }
  if (ConnectionRef* connection = least_busy()) {
    (*connection)->send(std::move(request), now);
  } else if (down_.empty()) {
    waiting_.push_back(std::move(request));
  } else {
    fail(request, {Failure::Kind::not_sent, down_});
  }
}

// A request that was never sent says nothing about the server.
void Node::refuse(const std::shared_ptr<Request>& request, std::string reason) {
  request->counted = true;
  context_.answers.finish(request, Failure{Failure::Kind::not_sent, std::move(reason)});
}

void Node::flush() {
  for (const ConnectionRef& connection : connections_) {
    if (connection) connection->flush();
  }
}

void Node::refuse_waiting(const std::string& reason) {
  for (const auto& request : std::exchange(waiting_, {})) fail(request, {Failure::Kind::not_sent, reason});
}

void Node::drop_whose_caller_left() {
  std::erase_if(waiting_, [this](const auto& request) {
    if (request->waiting()) return false;
    if (!std::exchange(request->counted, true)) breaker_.forget();
    return true;
  });
}

void Node::answered(const std::shared_ptr<Request>& request, Reply reply) {
  if (request->counted) breaker_.sign_of_life(context_.clock.now());  // late, but it lives
  count(*request, !says_unwell(reply));
  context_.answers.finish(request, NodeReply{std::move(reply), address_});
}

void Node::fail(const std::shared_ptr<Request>& request, Failure failure) {
  count(*request, false);
  context_.answers.finish(request, std::move(failure));
}

void Node::count(Request& request, bool success) {
  if (std::exchange(request.counted, true)) return;
  breaker_.record(success, context_.clock.now());
  if (!success || breaker_gauge_.value() != 0) show_breaker();
}

void Node::show_breaker() {
  breaker_gauge_.set(shown(breaker_.state(context_.clock.now())));
}

Instant Node::expire(Instant now) {
  Instant next = Instant::max();
  const auto look_at = [&](const std::shared_ptr<Request>& request, Failure::Kind kind) {
    if (!request->waiting()) return;
    if (request->deadline > now) {
      next = std::min(next, request->deadline);
    } else {
      fail(request, {kind, fmt::format("{}: timed out", address_.to_string())});
    }
  };
  for (const auto& request : waiting_) look_at(request, Failure::Kind::not_sent);
  drop_whose_caller_left();
  for (const ConnectionRef& connection : connections_) {
    if (!connection) continue;
    connection->visit([&](const auto& request) { look_at(request, Failure::Kind::late); });
    if (connection->overdue_at() <= now) {
      connection->give_up(fmt::format("{}: a reply is overdue", address_.to_string()));
    } else {
      next = std::min(next, connection->overdue_at());
    }
  }
  show_breaker();
  return next;
}

}  // namespace sluice::redis
