#include "adapters/kafka/kafka_subscription.h"

#include <algorithm>
#include <array>

#include "adapters/kafka/statistics.h"
#include "runtime/log.h"

namespace sluice::kafka {
namespace {

constexpr Duration joining_takes = 5s;

}  // namespace

// A fetch is under way while this lives.
class KafkaSubscription::Fetching {
 public:
  explicit Fetching(KafkaSubscription& subscription) : subscription_(subscription) { subscription_.fetching_ = true; }
  ~Fetching() {
    subscription_.fetching_ = false;
    subscription_.last_fetch_ = subscription_.clock_.now();
  }
  Fetching(const Fetching&) = delete;
  Fetching& operator=(const Fetching&) = delete;

 private:
  KafkaSubscription& subscription_;
};

using messaging::AssignmentRef;
using messaging::Fetched;
using messaging::Progress;

KafkaSubscription::KafkaSubscription(Instances& instances, messaging::SubscriptionConfig config, Executor executor,
                                     Clock& clock)
    : instances_(instances),
      config_(std::move(config)),
      clock_(clock),
      signal_(executor, [this] { look(); }),
      instance_(instances.consumer(config_, joining_)),
      events_(rd_kafka_queue_get_consumer(instance_.get())),
      owned_(instance_, signal_),
      commits_(instance_, *joining_, signal_, owned_, clock, executor),
      changed_(executor),
      silence_(executor),
      last_fetch_(clock.now()) {
  signal_.watch(events_);
  join();
  watch_silence(config_.session);
}

KafkaSubscription::~KafkaSubscription() {
  QueueSignal::unwatch(events_);
  if (last_events_) QueueSignal::unwatch(last_events_);
}

void KafkaSubscription::join() {
  const Partitions topics = new_partitions();
  for (const std::string& topic : config_.topics) {
    rd_kafka_topic_partition_list_add(topics.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
  }
  throw_if(rd_kafka_subscribe(instance_.get(), topics.get()));
}

void KafkaSubscription::watch_silence(Duration after) {
  silence_.expires_after(after);
  silence_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (error || alive.expired() || closing_) return;
    const Duration silent_for = fetching_ ? 0s : std::chrono::floor<Duration>(clock_.now() - last_fetch_);
    if (silent_for >= config_.session && !silent_) fall_silent();
    watch_silence(std::max<Duration>(1ms, config_.session - silent_for % config_.session));
  });
}

void KafkaSubscription::fall_silent() {
  silent_ = true;
  rd_kafka_unsubscribe(instance_.get());
  if (revocation_) answer_revocation();
}

Task<Fetched> KafkaSubscription::fetch(size_t most, Deadline deadline) {
  if (std::exchange(silent_, false)) join();
  const Fetching fetching(*this);
  while (true) {
    look_at_events();
    end_revocation_in_time();
    Fetched fetched = take(most);
    if (!fetched.empty() || deadline.passed(clock_)) co_return fetched;
    co_await changed_.wait_until(clock_, std::min(deadline.at, next_look()));
  }
}

Fetched KafkaSubscription::take(size_t most) {
  Fetched fetched{.leaving = std::exchange(leaving_, {}), .lost = std::exchange(lost_, {})};
  if (!fetched.empty()) return fetched;
  if (!problem_.empty()) throw EngineUnavailable(engine_name, std::exchange(problem_, {}));
  fetched = owned_.take(most);
  if (!fetched.deliveries.empty()) reachable_.works();
  if (!fetched.lost.empty()) commits_.wake();
  return fetched;
}

// Polling is the sign of life that librdkafka wants, and tells whether a revocation has become a loss.
Instant KafkaSubscription::next_look() const {
  const Instant alive = clock_.now() + config_.session / 4;
  return revocation_ ? std::min({alive, revocation_->end, clock_.now() + 100ms}) : alive;
}

void KafkaSubscription::look() {
  commits_.look();
  look_at_events();
  end_revocation_in_time();
  changed_.notify_all();
}

void KafkaSubscription::look_at_events() {
  while (const Event event{rd_kafka_queue_poll(events_.get(), 0)}) {
    switch (rd_kafka_event_type(event.get())) {
      case RD_KAFKA_EVENT_REBALANCE: on_rebalance(event.get()); break;
      case RD_KAFKA_EVENT_ERROR: on_error(event.get()); break;
      case RD_KAFKA_EVENT_STATS: count_statistics(rd_kafka_event_stats(event.get())); break;
      default: break;
    }
  }
}

void KafkaSubscription::on_rebalance(rd_kafka_event_t* event) {
  // The answers below wait for librdkafka's own thread, never for the network.
  if (rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    on_assigned(event);
  } else {
    on_revoked(event);
  }
}

void KafkaSubscription::on_assigned(rd_kafka_event_t* event) {
  const rd_kafka_topic_partition_list_t* partitions = rd_kafka_event_topic_partition_list(event);
  joined_ = true;
  commits_.on_assigned();
  owned_.add(*partitions);
  const Error error(rd_kafka_incremental_assign(instance_.get(), partitions));
  if (error) problem_ = rd_kafka_error_string(error.get());
}

void KafkaSubscription::on_revoked(rd_kafka_event_t* event) {
  const rd_kafka_topic_partition_list_t* partitions = rd_kafka_event_topic_partition_list(event);
  revocation_ = {Partitions(rd_kafka_topic_partition_list_copy(partitions)), clock_.now() + config_.handover};
  if (closing_ || silent_ || rd_kafka_assignment_lost(instance_.get()) != 0) return answer_revocation();
  for (int i = 0; i < partitions->cnt; ++i) {
    OwnedPartition* owned = owned_.find(partitions->elems[i].topic, partitions->elems[i].partition);
    if (owned == nullptr) continue;
    owned->leaving = true;
    leaving_.push_back(owned->assignment);
  }
  if (leaving_.empty()) answer_revocation();
}

void KafkaSubscription::end_revocation_in_time() {
  if (!revocation_) return;
  // After a commit that came too late, no other is accepted until the member has joined again, which follows this
  // answer.
  const bool lost = commits_.too_late() || rd_kafka_assignment_lost(instance_.get()) != 0;
  if (lost || clock_.now() >= revocation_->end) answer_revocation();
}

void KafkaSubscription::answer_revocation() {
  const Revocation revocation = std::move(*std::exchange(revocation_, std::nullopt));
  const rd_kafka_topic_partition_list_t& partitions = *revocation.partitions;
  for (int i = 0; i < partitions.cnt; ++i) {
    OwnedPartition* owned = owned_.find(partitions.elems[i].topic, partitions.elems[i].partition);
    if (owned == nullptr) continue;
    const AssignmentRef assignment = owned->assignment;
    std::erase(leaving_, assignment);
    lost_.push_back(assignment);
    owned_.remove(*assignment);
  }
  joining_->expect();
  const Error error(rd_kafka_incremental_unassign(instance_.get(), &partitions));
  if (error) log::warning("releasing Kafka partitions failed", {{"error", rd_kafka_error_string(error.get())}});
  commits_.wake();
  changed_.notify_all();
}

void KafkaSubscription::on_error(rd_kafka_event_t* event) {
  reachable_.fails(rd_kafka_event_error_string(event));
  // A failure of one broker of several, which librdkafka repairs; a loss of partitions has its own event.
  constexpr std::array passing = {RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__RESOLVE,
                                  RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED};
  if (std::ranges::find(passing, rd_kafka_event_error(event)) != passing.end()) return;
  problem_ = rd_kafka_event_error_string(event);
}

Task<> KafkaSubscription::commit(std::vector<Progress> progress) {
  const Instant deadline = clock_.now() + instances_.config().request_timeout;
  co_await commits_.commit(std::move(progress), deadline);
}

void KafkaSubscription::pause(const AssignmentRef& assignment) {
  if (OwnedPartition* owned = owned_.find(assignment.get())) owned->paused = true;
}

void KafkaSubscription::resume(const AssignmentRef& assignment) {
  if (OwnedPartition* owned = owned_.find(assignment.get())) owned->paused = false;
  changed_.notify_all();
}

Task<> KafkaSubscription::let_go(AssignmentRef assignment) {
  const OwnedPartition* owned = owned_.find(assignment.get());
  if (owned == nullptr || !owned->leaving) co_return;
  std::erase(leaving_, assignment);
  owned_.remove(*assignment);
  const auto& partitions = owned_.all();
  if (std::ranges::none_of(partitions, &OwnedPartition::leaving)) answer_revocation();
}

// librdkafka 2.0 aborts if an instance ends between joining its group and the first assignment. An early close waits
// for the assignment, but not for long: without brokers it never comes.
Task<> KafkaSubscription::wait_until_joined() {
  const Deadline deadline = Deadline::after(clock_, joining_takes);
  while (!joined_ && !deadline.passed(clock_)) {
    look_at_events();
    const Instant again = clock_.now() + 10ms;
    co_await changed_.wait_until(clock_, std::min(deadline.at, again));
  }
}

Task<> KafkaSubscription::close() {
  if (closing_) co_return;
  co_await wait_until_joined();
  if (closing_) co_return;
  closing_ = true;
  if (revocation_) answer_revocation();
  // Later events go there, also when `events_` is polled.
  last_events_.reset(rd_kafka_queue_new(instance_.get()));
  signal_.watch(last_events_);
  const Error error(rd_kafka_consumer_close_queue(instance_.get(), last_events_.get()));
  const Deadline deadline = Deadline::after(clock_, config_.session);
  while (!error && rd_kafka_consumer_closed(instance_.get()) == 0 && !deadline.passed(clock_)) {
    look_at_events();
    const Instant again = clock_.now() + 10ms;
    co_await changed_.wait_until(clock_, std::min(deadline.at, again));
  }
  owned_.clear();
}

}  // namespace sluice::kafka
