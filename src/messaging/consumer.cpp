#include "messaging/consumer.h"

#include <boost/asio/post.hpp>

#include "base/check.h"
#include "runtime/log.h"

namespace sluice::messaging {
namespace {

// How long a fetch waits for messages; a sign of life must be much more frequent than the session.
constexpr Duration fetch_wait = 1s;
// Time for a stopping consumer to commit and to leave the group.
constexpr Duration farewell = 5s;

// While the log itself is away.
constexpr Backoff log_backoff{.first = 100ms, .factor = 2, .max = 5s};

}  // namespace

Consumer::Consumer(ConsumerParts parts, ConsumerConfig config, ConsumerRole role, Handler handler, Executor executor)
    : parts_(parts),
      config_(config),
      role_(std::move(role)),
      executor_(std::move(executor)),
      held_(config_),
      handlers_(parts_, config_, role_, std::move(handler), executor_,
                [this](HeldPartition& held) { on_finished(held); }),
      committing_(executor_),
      commit_now_(executor_) {}

Consumer::~Consumer() {
  check(subscription_ == nullptr, "a Consumer must be stopped before it is destroyed");
}

void Consumer::start() {
  SubscriptionConfig subscription{.group = role_.group, .topics = role_.topics};
  subscription.session = config_.session;
  subscription.handover = config_.handover;
  subscription_ = parts_.log.subscribe(std::move(subscription), executor_);
  handlers_.start();
  fetching_ = std::make_unique<TaskScope>(executor_);
  fetching_->spawn("consumer fetch", run_forever(
                                         "consumer fetch " + role_.group, parts_.clock, parts_.random,
                                         [this] { return fetch_round(); }, log_backoff));
  committing_.spawn("consumer commit", run_forever(
                                           "consumer commit " + role_.group, parts_.clock, parts_.random,
                                           [this] { return commit_round(); }, log_backoff));
}

Task<> Consumer::fetch_round() {
  const Deadline deadline = Deadline::after(parts_.clock, std::min(fetch_wait, config_.session / 4));
  Fetched fetched = co_await subscription_->fetch(held_.room(), deadline);
  take(std::move(fetched));
  co_await asio::post(executor_, asio::use_awaitable);  // the handlers' turn
}

void Consumer::take(Fetched fetched) {
  for (Delivery& delivery : fetched.deliveries) {
    if (stopping_) break;
    const HeldRef& held = held_.of(delivery.assignment);
    handlers_.add(held, std::move(delivery));
  }
  const Instant now = parts_.clock.now();
  for (const AssignmentRef& leaving : fetched.leaving) held_.ask_back(leaving, now);
  for (const AssignmentRef& lost : fetched.lost) held_.lose(lost);
  held_.pause_full(*subscription_);
  handlers_.look();
  if (!fetched.leaving.empty()) commit_now_.notify_all();
}

void Consumer::on_finished(HeldPartition& held) {
  if (!stopping_) held_.resume_if_empty(held, *subscription_);
  if (held.leave_by && held.prefix.unfinished() == 0) commit_now_.notify_all();
}

Task<> Consumer::commit_round() {
  const Instant now = parts_.clock.now();
  const std::vector<HeldRef> leaving = held_.end_leaving(now);
  co_await commit();
  co_await let_go(leaving);
  const bool more = held_.any_leaving(parts_.clock.now());  // a handler finished meanwhile
  if (!more) co_await commit_now_.wait_until(parts_.clock, now + config_.commit_every);
}

Task<> Consumer::commit() {
  const std::vector<Progress> progress = held_.progress();
  if (progress.empty()) co_return;
  co_await subscription_->commit(progress);
  held_.committed(progress);
}

Task<> Consumer::let_go(std::vector<HeldRef> leaving) {
  for (const HeldRef& held : leaving) {
    co_await subscription_->let_go(held->assignment);
    held_.forget(*held);
  }
}

Task<> Consumer::stop() {
  if (!subscription_) co_return;
  co_await fetching_->close();
  stopping_ = true;
  held_.pause_all(*subscription_);
  // Silence would cost the partitions before their work is committed.
  fetching_ = std::make_unique<TaskScope>(executor_);
  fetching_->spawn("consumer fetch", run_forever(
                                         "consumer fetch " + role_.group, parts_.clock, parts_.random,
                                         [this] { return fetch_round(); }, log_backoff));
  co_await handlers_.drain(parts_.clock.now() + config_.drain);
  co_await fetching_->close();
  co_await handlers_.close();
  co_await committing_.close();
  try {
    const Deadline deadline = Deadline::after(parts_.clock, farewell);
    co_await with_deadline(parts_.clock, deadline, "log", leave());
  } catch (const EngineUnavailable& error) {
    log::warning("consumer could not leave its group", {{"group", role_.group}, {"error", error.what()}});
  }
  subscription_.reset();
}

Task<> Consumer::leave() {
  co_await commit();
  co_await subscription_->close();
}

}  // namespace sluice::messaging
