#include "adapters/redis/client/exchange.h"

#include <boost/asio/post.hpp>

#include "adapters/redis/client/redis.h"
#include "base/check.h"
#include "runtime/log.h"
#include "runtime/pending_call.h"
#include "runtime/retry.h"

namespace sluice::redis {
namespace {

const metrics::Gauge pending_commands{"redis_pending_commands", "Commands waiting for a reply of Redis."};

constexpr Duration slots_every = 1min;
constexpr Duration slots_pause = 50ms;
constexpr Backoff slots_backoff{.first = 50ms, .factor = 2, .max = 1s};
constexpr Backoff retry_backoff{.first = 10ms, .factor = 2, .max = 200ms};

Place place_of(const RedisConfig& config) {
  const auto place = Place::parse(config.url);
  check_that(place.has_value(), "redis.url is \"{}\"", config.url);
  return *place;
}

}  // namespace

Exchange::Exchange(RedisConfig config, Executor executor, Clock& clock)
    : config_(std::move(config)),
      place_(place_of(config_)),
      executor_(std::move(executor)),
      clock_(clock),
      access_{config_, place_.database, make_tls(config_, place_.tls)},
      // Jitter must differ between processes; nothing else depends on it.
      random_(static_cast<uint64_t>(clock.wall().time_since_epoch().count())),
      answers_(executor_),
      context_{access_, executor_, clock_, random_, answers_, [this] { in_doubt(); }},
      nodes_(context_, place_.seeds, config_.cluster),
      scope_(executor_),
      pending_(std::make_shared<std::atomic<size_t>>(0)),
      retry_random_(random_.next()),
      time_changed_(executor_),
      slots_wanted_(config_.cluster),
      slots_wanted_now_(executor_) {}

Exchange::~Exchange() = default;

void Exchange::start() {
  nodes_.start();
  scope_.spawn("redis time", keep_time());
  scope_.spawn("redis slots", keep_slots());
}

Task<> Exchange::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  co_await scope_.close();
  take_submitted();
  refuse_unrouted({Failure::Kind::closing, "shutting down"});
  co_await nodes_.close();
  // Posted callbacks refer to this object.
  answers_.flush();
  co_await asio::post(executor_, asio::use_awaitable);
}

std::shared_ptr<Request> Exchange::admit(Command command, Instant deadline) {
  // Counted first, so that callers on several threads can't pass the bound together.
  auto request = std::make_shared<Request>(std::move(command), deadline, pending_);
  if (*pending_ > config_.max_pending) throw Overloaded(engine_name);
  return request;
}

Task<Outcome> Exchange::perform(std::shared_ptr<Request> request) {
  request->counted = false;
  const auto submitting = [this](std::shared_ptr<Request> ready) { submit(std::move(ready)); };
  co_await await_request(request, submitting);
  co_return request->take();
}

void Exchange::submit(std::shared_ptr<Request> request) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      // Under the lock: after `close` nothing may be posted that refers to this object.
      if (submitted_.empty()) asio::post(executor_, [this] { take_submitted(); });
      submitted_.push_back(std::move(request));
      return;
    }
  }
  request->refuse({Failure::Kind::closing, "shutting down"});
}

void Exchange::take_submitted() {
  Requests submitted;
  {
    const std::lock_guard lock(mutex_);
    submitted.swap(submitted_);
  }
  for (const auto& request : submitted) {
    expect_answer_by(request->deadline);
    route(request);
  }
  nodes_.flush();
  pending_commands.set(static_cast<double>(pending_->load()));
}

void Exchange::route(const std::shared_ptr<Request>& request) {
  const bool by_map = !request->target.address && request->command.slot().has_value();
  if (by_map && !nodes_.known()) {
    if (slots_refused_) return answers_.finish(request, Failure{Failure::Kind::not_sent, no_slots_because_});
    unrouted_.push_back(request);
    return;
  }
  try {
    learn_from(*request);
    if (Node* node = node_for(*request)) return node->send(request);
    ask_for_slots();
    answers_.finish(request, Failure{Failure::Kind::not_sent, "no node of the cluster serves the key's slot"});
  } catch (const EngineUnavailable& error) {
    answers_.finish(request, Failure{Failure::Kind::not_sent, reason_of(error)});
  }
}

void Exchange::learn_from(const Request& request) {
  if (request.target.moved) nodes_.assign(request.command.slot().value(), request.target.address.value());
  if (request.target.moved || request.target.map_stale) ask_for_slots();
}

Node* Exchange::node_for(const Request& request) {
  if (request.target.address) return &nodes_.at(*request.target.address);
  if (request.command.slot()) return nodes_.of_slot(*request.command.slot());
  return &nodes_.any();
}

void Exchange::expect_answer_by(Instant deadline) {
  if (deadline >= look_at_) return;
  look_at_ = deadline;
  time_changed_.notify_all();
}

// Sleeps until the nearest known deadline and then checks all requests: about once per command timeout, for any number
// of commands.
Task<> Exchange::keep_time() {
  while (true) {
    co_await time_changed_.wait_until(clock_, look_at_);
    const Instant now = clock_.now();
    if (look_at_ > now) continue;
    Instant next = nodes_.expire(now);
    for (const auto& request : unrouted_) {
      if (request->deadline <= now) {
        answers_.finish(request, Failure{Failure::Kind::not_sent, no_slots_because_});
      } else {
        next = std::min(next, request->deadline);
      }
    }
    std::erase_if(unrouted_, [](const auto& request) { return !request->waiting(); });
    look_at_ = next;
    pending_commands.set(static_cast<double>(pending_->load()));
  }
}

void Exchange::ask_for_slots() {
  slots_wanted_ = true;
  slots_wanted_now_.notify_all();
}

// A single server keeps its address, so it is waited for there. A server that took over may have handed back.
void Exchange::in_doubt() {
  const Node* master = nodes_.of_slot(0);
  const bool moved = master != nullptr && master->address() != place_.seeds.front();
  if (config_.cluster || moved) ask_for_slots();
}

Task<> Exchange::keep_slots() {
  return run_forever("redis slots", clock_, random_, [this] { return refresh_slots(); }, slots_backoff);
}

Task<> Exchange::refresh_slots() {
  if (!slots_wanted_ && config_.cluster) co_await slots_wanted_now_.wait_until(clock_, clock_.now() + slots_every);
  while (!slots_wanted_ && !config_.cluster) co_await slots_wanted_now_.wait();
  slots_wanted_ = false;
  std::string reason;
  const std::vector<Address> asked = nodes_.whom_to_ask();
  for (const Address& address : asked) {
    try {
      const std::vector<SlotRange> slots = co_await slots_by(address);
      nodes_.assign(slots);
      reason.clear();
      break;
    } catch (const EngineUnavailable& error) {
      reason = reason_of(error);
    }
  }
  slots_refused_ = !reason.empty();
  if (slots_refused_) {
    slots_wanted_ = true;
    no_slots_because_ = reason;
    refuse_unrouted({Failure::Kind::not_sent, reason});
    throw EngineUnavailable(engine_name, reason);
  }
  for (const auto& request : std::exchange(unrouted_, {})) route(request);
  nodes_.flush();
  co_await clock_.sleep_for(slots_pause);  // requests that arrive meanwhile share the answer
}

Task<std::vector<SlotRange>> Exchange::slots_by(Address address) {
  if (!config_.cluster) {
    const Reply info = co_await ask(address, Command("INFO").arg("replication"));
    if (info.is_error()) throw EngineUnavailable(engine_name, info.error());
    co_return std::vector{read_master(info.text(), address)};
  }
  const Reply reply = co_await ask(address, Command("CLUSTER").arg("SLOTS"));
  if (reply.is_error()) {
    throw EngineUnavailable(engine_name, fmt::format("{} does not report the cluster's slots: {}; check redis.cluster",
                                                     address.to_string(), reply.error()));
  }
  if (reply.array().empty()) {
    throw EngineUnavailable(engine_name, fmt::format("{}: the cluster serves no slots", address.to_string()));
  }
  co_return read_slots(reply, address);
}

Task<Reply> Exchange::ask(Address address, Command command) {
  const Instant deadline = clock_.now() + config_.command_timeout;
  const auto request = std::make_shared<Request>(std::move(command), deadline, pending_);
  request->target.address = address;
  Outcome outcome = co_await perform(request);
  if (const auto* failure = std::get_if<Failure>(&outcome)) throw EngineUnavailable(engine_name, failure->text);
  co_return std::move(std::get<NodeReply>(outcome).reply);
}

void Exchange::refuse_unrouted(Failure failure) {
  for (const auto& request : std::exchange(unrouted_, {})) answers_.finish(request, failure);
}

Duration Exchange::jittered(unsigned attempt) {
  const std::lock_guard lock(mutex_);
  return retry_backoff.delay(attempt, retry_random_);
}

}  // namespace sluice::redis
