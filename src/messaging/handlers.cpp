#include "messaging/handlers.h"

#include <algorithm>

#include <boost/asio/post.hpp>

#include "base/check.h"
#include "runtime/log.h"

namespace sluice::messaging {
namespace {

const metrics::Counter handled_total{"consumer_handled_total", "Messages handled by consumers.", {"group"}};
const metrics::Counter retried_total{"consumer_retried_total", "Failed tries that are repeated.", {"group"}};
const metrics::Counter dead_total{"consumer_dead_total", "Messages that became dead letters.", {"group", "reason"}};
const metrics::Gauge in_work_now{"consumer_in_work", "Messages delivered but not finished.", {"group"}};
const metrics::Gauge paused_now{
    "consumer_paused", "Consumers of this process that wait for an unavailable engine.", {"group"}};

// How many messages one worker handles without waiting before others on its thread get a turn.
constexpr unsigned in_a_row = 256;

}  // namespace

struct Handlers::Worker {
  explicit Worker(const Executor& executor) : scope(executor), woken(executor) {}

  TaskScope scope;  // one of its own, so that a handler whose time is up can be cancelled alone
  Wakeup woken;
  Handling* at = nullptr;
  Instant since{};
  bool overdue = false;
};

struct Handlers::Counts {
  explicit Counts(const std::string& group)
      : handled(handled_total.with({group})),
        retried(retried_total.with({group})),
        in_work(in_work_now.with({group})),
        paused(paused_now.with({group})) {}

  metrics::CounterCell& handled;
  metrics::CounterCell& retried;
  metrics::GaugeCell& in_work;
  metrics::GaugeCell& paused;
  size_t shown = 0;  // of in_work, by this consumer

  void show(size_t now) {
    in_work.add(static_cast<double>(now) - static_cast<double>(shown));
    shown = now;
  }
};

Handlers::Handlers(ConsumerParts parts, const ConsumerConfig& config, const ConsumerRole& role, Handler handler,
                   Executor executor, OnFinished on_finished)
    : parts_(parts),
      config_(config),
      role_(role),
      handler_(std::move(handler)),
      executor_(std::move(executor)),
      on_finished_(std::move(on_finished)),
      counts_(std::make_unique<Counts>(role.group)),
      gate_(config.pause, parts.random),
      time_(executor_),
      time_changed_(executor_),
      drained_(executor_) {}

Handlers::~Handlers() {
  counts_->show(0);
  if (gate_.down()) counts_->paused.add(-1);
}

void Handlers::start() {
  time_.spawn("consumer time", keep_time());
}

void Handlers::look() {
  counts_->show(queues_.size());
  wake_one();
}

Task<> Handlers::drain(Instant when) {
  while (queues_.size() > 0 && !gate_.down() && parts_.clock.now() < when) {
    co_await drained_.wait_until(parts_.clock, when);
  }
}

Task<> Handlers::close() {
  closing_ = true;
  co_await time_.close();
  for (Worker& worker : workers_) worker.scope.cancel();
  for (Worker& worker : workers_) co_await worker.scope.join();
  workers_.clear();
}

// Each worker that finds something wakes the next before it begins: as many as can be used are awake, and a worker
// whose handler never waits does all the work alone.
void Handlers::wake_one() {
  if (waking_ > 0 || closing_ || queues_.front() == nullptr || !gate_.open(parts_.clock.now())) return;
  if (!idle_.empty()) {
    idle_.back()->woken.notify_all();
    idle_.pop_back();
  } else if (working_ < config_.handlers) {
    ++working_;
    Worker& worker = workers_.emplace_back(executor_);
    worker.scope.spawn("consumer handler", work(worker));
  } else {
    return;
  }
  ++waking_;
}

Task<> Handlers::work(Worker& worker) {
  co_await asio::post(executor_, asio::use_awaitable);  // a task starts on the caller's stack
  --waking_;
  for (unsigned count = 1; !worker.scope.closed(); ++count) {
    worker.at = next();
    if (worker.at == nullptr) {
      idle_.push_back(&worker);
      co_await worker.woken.wait();
      --waking_;
      continue;
    }
    worker.since = parts_.clock.now();
    wake_one();
    co_await handle(worker, *worker.at);
    worker.at = nullptr;
    if (count % in_a_row == 0 && !worker.scope.closed()) co_await asio::post(executor_, asio::use_awaitable);
  }
  // The handler exceeded its time, and its cancellation ended the loop as well: another loop takes its place.
  --working_;
  wake_one();
}

Handling* Handlers::next() {
  while (Handling* handling = queues_.front()) {
    if (handling->held->ended) {
      queues_.begin();
      finish(*handling);
      continue;
    }
    if (!gate_.enter(parts_.clock.now())) return nullptr;
    queues_.begin();
    return handling;
  }
  return nullptr;
}

Task<> Handlers::handle(Worker& worker, Handling& handling) {
  try {
    if (handling.given_up) {
      co_await bury(handling);
      engine_answered();
      finish(handling);
    } else {
      Task<Handled> handler = handler_(handling.delivery);
      Handled handled = co_await std::move(handler);
      engine_answered();
      judge(handling, std::move(handled));
    }
  } catch (const std::exception& error) {
    threw(worker, handling, error);
  }
}

// The message is finished when the log has its letter, and not before.
Task<> Handlers::bury(Handling& handling) {
  const Failure& failure = *handling.given_up;
  std::string refused;
  for (const LetterForm form : {LetterForm::whole, LetterForm::without_payload, LetterForm::least}) {
    std::vector<Message> letters;
    letters.push_back(write_letter(role_.dead_letter_topic, role_.group, handling.delivery, failure, form));
    const std::vector<Published> outcomes = co_await parts_.log.publish(std::move(letters));
    if (std::holds_alternative<Position>(outcomes.front())) {
      dead_total.with({role_.group, failure.reason}).add();
      log::warning("message became a dead letter", {{"group", role_.group},
                                                    {"topic", handling.held->assignment->topic},
                                                    {"partition", handling.held->assignment->partition},
                                                    {"offset", handling.delivery.offset},
                                                    {"reason", failure.reason},
                                                    {"error", std::string_view(failure.error).substr(0, 1'000)}});
      co_return;
    }
    if (const auto* rejected = std::get_if<Rejected>(&outcomes.front())) refused = rejected->reason;
  }
  throw EngineUnavailable("log", "it refused a dead letter: " + refused);
}

void Handlers::judge(Handling& handling, Handled handled) {
  if (handling.held->ended) return finish(handling);
  switch (handled.kind) {
    case Handled::Kind::done: counts_->handled.add(); return finish(handling);
    case Handled::Kind::retry: return retry(handling, std::move(handled));
    case Handled::Kind::dead: ++handling.tries; return give_up(handling, std::move(handled));
    case Handled::Kind::later: return try_later(handling, handled.delay);
  }
}

void Handlers::threw(const Worker& worker, Handling& handling, const std::exception& error) {
  if (closing_) return;
  if (handling.given_up || (!worker.overdue && dynamic_cast<const EngineUnavailable*>(&error) != nullptr)) {
    return engine_failed(handling, error.what());
  }
  engine_answered();
  judge(handling, worker.overdue ? Handled::retry("HANDLER_TIMEOUT",
                                                  "not finished within " + format_duration(config_.handler_timeout))
                                 : Handled::retry("HANDLER_FAILED", error.what()));
}

void Handlers::engine_answered() {
  if (!gate_.down()) return;
  gate_.answered();
  if (gate_.down()) return;
  counts_->paused.add(-1);
  log::info("consumer continues", {{"group", role_.group}});
}

void Handlers::engine_failed(Handling& handling, std::string_view error) {
  const bool was_down = gate_.down();
  if (gate_.failed(parts_.clock.now()) && !was_down) {
    counts_->paused.add(1);
    log::warning("consumer pauses: an engine is unavailable", {{"group", role_.group}, {"error", error}});
  }
  queues_.again(handling);
  time_changed_.notify_all();
  drained_.notify_all();
}

void Handlers::retry(Handling& handling, Handled handled) {
  if (++handling.tries >= config_.tries) return give_up(handling, std::move(handled));
  counts_->retried.add();
  try_later(handling, config_.retry.delay(static_cast<unsigned>(handling.tries - 1), parts_.random));
}

void Handlers::give_up(Handling& handling, Handled handled) {
  handling.given_up =
      Failure{std::move(handled.reason), std::move(handled.error), handling.tries, parts_.clock.wall(), role_.worker};
  queues_.again_at_once(handling);
}

void Handlers::try_later(Handling& handling, Duration delay) {
  const auto at = later_.emplace(parts_.clock.now() + delay, &handling);
  if (at == later_.begin()) time_changed_.notify_all();
}

void Handlers::finish(Handling& handling) {
  const std::shared_ptr<HeldPartition> held = std::move(handling.held);
  if (!held->ended) held->prefix.finish(handling.ticket);
  held->bytes -= bytes_of(handling.delivery);
  queues_.finish(handling);
  if (held->paused || held->leave_by) on_finished_(*held);
  if (queues_.size() == 0) drained_.notify_all();
}

Task<> Handlers::keep_time() {
  while (true) {
    const Instant now = parts_.clock.now();
    wake_due(now);
    end_overdue(now);
    counts_->show(queues_.size());
    wake_one();
    co_await time_changed_.wait_until(parts_.clock, next_look(now));
  }
}

void Handlers::wake_due(Instant now) {
  const auto end = later_.upper_bound(now);
  for (auto at = later_.begin(); at != end; ++at) queues_.again(*at->second);
  later_.erase(later_.begin(), end);
}

void Handlers::end_overdue(Instant now) {
  std::erase_if(workers_, [](const Worker& worker) { return worker.scope.closed() && worker.scope.running() == 0; });
  for (Worker& worker : workers_) {
    if (worker.overdue || worker.at == nullptr || now - worker.since < config_.handler_timeout) continue;
    worker.overdue = true;
    worker.scope.cancel();
  }
}

Instant Handlers::next_look(Instant now) const {
  const Instant retry = later_.empty() ? Instant::max() : later_.begin()->first;
  // An open gate without waiting messages sets no time.
  const Instant gate = gate_.opens_at() > now ? gate_.opens_at() : Instant::max();
  return std::min({now + config_.handler_timeout / 4, retry, gate});
}

}  // namespace sluice::messaging
