#include "http/sse/sse_branch.h"

#include <boost/asio/post.hpp>

#include "base/check.h"
#include "http/server/server_metrics.h"
#include "runtime/log.h"

namespace sluice::http {
namespace {

// A heartbeat is spread over this many parts of its time, so that thousands of sends do not come at once.
constexpr size_t beats = 16;
constexpr Duration last_words_time = 1s;
// After this many sends in a row the thread's other work gets its turn.
constexpr size_t sends_in_a_row = 1024;

const SharedBytes& reconnect() {
  static const SharedBytes frame = format_event({.type = "RECONNECT", .data = "{}"});
  return frame;
}

}  // namespace

struct SseHub::Branch::Topic {
  std::string name;
  std::vector<Subscription*> members;
  std::unordered_map<std::string_view, Subscription*> by_subscriber;
};

struct SseHub::Branch::Subscription : Outlet::Owner {
  void on_gone(Outlet&) override { branch->remove(*this); }

  Branch* branch;
  Topic* topic;
  std::shared_ptr<Outlet> outlet;
  SseOwner* owner;
  std::string subscriber;
  uint64_t generation;
  uint32_t place;           // in all_
  uint32_t place_in_topic;  // in topic->members
};

SseHub::Branch::Branch(const SseConfig& config, asio::io_context& context, Clock& clock)
    : config_(config),
      context_(context),
      clock_(clock),
      mailbox_(config.max_pending),
      hello_(std::make_shared<std::string>(
          fmt::format("retry: {}\n\n", std::chrono::floor<std::chrono::milliseconds>(config.retry).count()))),
      scope_(context.get_executor()) {}

SseHub::Branch::~Branch() {
  check(all_.empty(), "the SSE hub must be drained before it is destroyed");
}

void SseHub::Branch::open(Label label, std::shared_ptr<Outlet> outlet, std::string_view last_event_id) {
  if (!beating_) scope_.spawn("sse heartbeat", beat());
  beating_ = true;
  replace(label.topic, label.subscriber, label.generation);

  std::unique_ptr<Topic>& topic = topics_[label.topic];
  if (!topic) topic = std::make_unique<Topic>(Topic{label.topic, {}, {}});
  auto made = std::make_unique<Subscription>();
  made->branch = this;
  made->topic = topic.get();
  made->outlet = std::move(outlet);
  made->owner = label.owner;
  made->subscriber = std::move(label.subscriber);
  made->generation = label.generation;
  made->place = static_cast<uint32_t>(all_.size());
  made->place_in_topic = static_cast<uint32_t>(topic->members.size());

  Subscription& subscription = *made;
  subscription.outlet->belong_to(&subscription);
  topic->members.push_back(&subscription);
  if (!subscription.subscriber.empty()) topic->by_subscriber[subscription.subscriber] = &subscription;
  all_.push_back(std::move(made));
  size_.store(all_.size(), std::memory_order_relaxed);
  sse_connections_gauge().add(1);

  if (subscription.owner != nullptr) subscription.owner->on_open(label.topic, subscription.subscriber, last_event_id);
  send(subscription, hello_);
}

void SseHub::Branch::post(SseMailbox::Letter letter) {
  mailbox_.put(std::move(letter), [this] { asio::post(context_, [this] { deliver(); }); });
}

void SseHub::Branch::deliver() {
  for (size_t sends = 0; sends < sends_in_a_row; ++sends) {
    const SseMailbox::Mail mail = mailbox_.take();
    for (const auto& [name, generation] : mail.replaced) replace(name.first, name.second, generation);
    send_away(mail);
    if (!mail.letter) return;
    const auto& [topic, subscriber, frame, generation, last] = *mail.letter;
    if (last) {
      sends += end(topic, frame);
    } else if (frame) {
      sends += publish(topic, subscriber, frame);
    } else {
      replace(topic, subscriber, generation);
    }
  }
  asio::post(context_, [this] { deliver(); });
}

void SseHub::Branch::send_away(const SseMailbox::Mail& mail) {
  if (mail.missed.empty() && !mail.everybody_missed) return;
  const size_t before = all_.size();
  while (mail.everybody_missed && !all_.empty()) dismiss(*all_.back(), reconnect());
  for (const auto& [topic, subscriber] : mail.missed) {
    // The last one to go takes the topic along.
    for (auto found = topics_.find(topic); found != topics_.end(); found = topics_.find(topic)) {
      const auto& by_subscriber = found->second->by_subscriber;
      const auto one = by_subscriber.find(subscriber);
      if (!subscriber.empty() && one == by_subscriber.end()) break;
      dismiss(subscriber.empty() ? *found->second->members.back() : *one->second, reconnect());
    }
  }
  log::warning("events arrive faster than they can be sent; their subscribers must reconnect",
               {{"subscribers", before - all_.size()}, {"max_pending", config_.max_pending}});
}

void SseHub::Branch::replace(const std::string& topic, const std::string& subscriber, uint64_t generation) {
  if (subscriber.empty()) return;
  const auto found = topics_.find(topic);
  if (found == topics_.end()) return;
  const auto former = found->second->by_subscriber.find(subscriber);
  if (former == found->second->by_subscriber.end() || former->second->generation >= generation) return;
  static const SharedBytes replaced = format_event({.type = "REPLACED", .data = "{}"});
  dismiss(*former->second, replaced);
}

size_t SseHub::Branch::publish(const std::string& topic, const std::string& subscriber, const SharedBytes& frame) {
  const auto found = topics_.find(topic);
  if (found == topics_.end()) return 0;
  if (!subscriber.empty()) {
    const auto one = found->second->by_subscriber.find(subscriber);
    if (one == found->second->by_subscriber.end()) return 0;
    send(*one->second, frame);
    return 1;
  }
  // Backwards: a dropped member is replaced by the last one, which has its event already. The topic goes with its last
  // member, and then the loop ends.
  std::vector<Subscription*>& members = found->second->members;
  const size_t count = members.size();
  for (size_t i = count; i-- > 0;) send(*members[i], frame);
  return count;
}

size_t SseHub::Branch::end(const std::string& topic, const SharedBytes& frame) {
  size_t count = 0;
  // The last one to go takes the topic along.
  for (auto found = topics_.find(topic); found != topics_.end(); found = topics_.find(topic), ++count) {
    dismiss(*found->second->members.back(), frame);
  }
  return count;
}

void SseHub::Branch::send(Subscription& subscription, const SharedBytes& frame) {
  if (!subscription.outlet->send(frame)) return;  // gone, and removed by on_gone
  if (subscription.outlet->unsent() <= config_.max_unsent) return;
  count_rejected("slow_sse_consumer");
  subscription.outlet->close();
  remove(subscription);
}

void SseHub::Branch::dismiss(Subscription& subscription, const SharedBytes& frame) {
  const std::shared_ptr<Outlet> outlet = subscription.outlet;
  outlet->belong_to(nullptr);
  outlet->send(frame);
  outlet->finish();
  if (outlet->unsent() > 0) leaving_.push_back(outlet);
  remove(subscription);
}

void SseHub::Branch::remove(Subscription& subscription) {
  Topic& topic = *subscription.topic;
  topic.members.back()->place_in_topic = subscription.place_in_topic;
  std::swap(topic.members[subscription.place_in_topic], topic.members.back());
  topic.members.pop_back();
  const auto named = topic.by_subscriber.find(subscription.subscriber);
  if (named != topic.by_subscriber.end() && named->second == &subscription) topic.by_subscriber.erase(named);

  const uint32_t place = subscription.place;
  all_.back()->place = place;
  std::swap(all_[place], all_.back());
  const std::unique_ptr<Subscription> removed = std::move(all_.back());
  all_.pop_back();
  size_.store(all_.size(), std::memory_order_relaxed);
  sse_connections_gauge().add(-1);
  if (removed->owner != nullptr) removed->owner->on_close(topic.name, removed->subscriber);
  if (topic.members.empty()) topics_.erase(topics_.find(topic.name));
}

Task<> SseHub::Branch::beat() {
  const SharedBytes heartbeat = std::make_shared<std::string>(":\n\n");
  while (true) {
    co_await clock_.sleep_for(config_.heartbeat / beats);
    // Subscribers that have not taken the last event by now are dropped.
    for (const auto& outlet : leaving_) outlet->close();
    leaving_.clear();
    owed_ += all_.size();
    const size_t share = owed_ / beats;
    owed_ %= beats;
    for (size_t i = 0; i < share && !all_.empty(); ++i) {
      cursor_ = cursor_ == 0 || cursor_ > all_.size() ? all_.size() : cursor_;
      send(*all_[--cursor_], heartbeat);
    }
  }
}

Task<> SseHub::Branch::drain() {
  mailbox_.close();
  co_await asio::post(context_, asio::use_awaitable);  // behind the delivery that may be on its way
  co_await scope_.close();
  while (!all_.empty()) dismiss(*all_.back(), reconnect());
  const Deadline until = Deadline::after(clock_, last_words_time);
  while (!until.passed(clock_) && std::ranges::any_of(leaving_, [](const auto& o) { return o->unsent() > 0; })) {
    co_await clock_.sleep_for(10ms);
  }
  for (const auto& outlet : leaving_) outlet->close();
  leaving_.clear();
}

}  // namespace sluice::http
