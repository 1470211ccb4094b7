// A log in memory with groups, gaps between offsets, and faults on demand.
//
// For testing the rules above it. It passes the contract suites of the log as real ones do (pretend_ports_test.cpp).
// Left out on purpose: it keeps nothing when it is destroyed, serves one thread, never loses its memory, and removes
// old messages only when it is told to.
#pragma once

#include <functional>
#include <set>

#include "base/check.h"
#include "messaging/log_view.h"
#include "messaging/message_log.h"
#include "messaging/testing/pretend_group.h"
#include "runtime/errors.h"
#include "runtime/wakeup.h"

namespace sluice::messaging {

class PretendLog : public MessageLog, public LogView {
 public:
  PretendLog(Clock& clock, Executor executor) : clock_(clock), changed_(executor) {}

  // Faults. `fails` is asked before each publish, commit and fetch, with its name.
  std::function<bool(std::string_view call)> fails = [](std::string_view) { return false; };
  std::function<Duration()> takes = [] { return Duration{0}; };
  std::function<void(const Position& next)> on_commit = [](const Position&) {};
  std::function<void(const Message&, const Position&)> on_store = [](const Message&, const Position&) {};
  std::function<bool(const Message&)> rejects = [](const Message&) { return false; };
  std::function<bool(const Message&)> silent = [](const Message&) { return false; };  // its part of the log is
  size_t largest = max_message_bytes;                                                 // payload
  size_t lost_commits = 0;                                                            // that came too late

  Task<> declare(std::vector<Topic> topics) override {
    for (const Topic& topic : topics) {
      Partitions& partitions = topics_[topic.name];
      if (partitions.empty()) partitions.resize(static_cast<size_t>(topic.partitions));
      retentions_[topic.name] = topic.retention;
    }
    co_return;
  }

  Task<std::vector<Published>> publish(std::vector<Message> messages) override {
    co_await call("publish");
    std::vector<Published> outcomes;
    std::set<std::pair<std::string, std::string>> ended;
    for (Message& message : messages) {
      std::pair key{message.topic, message.key};
      outcomes.push_back(ended.contains(key) ? Published{HeldBack{}} : store(std::move(message)));
      if (!std::holds_alternative<Position>(outcomes.back())) ended.insert(std::move(key));
    }
    changed_.notify_all();
    if (nothing_known(outcomes)) throw EngineUnavailable("pretended log", "no answer");
    co_return outcomes;
  }

  Task<int32_t> partitions(std::string topic) override {
    const auto found = topics_.find(topic);
    co_return found == topics_.end() ? 0 : static_cast<int32_t>(found->second.size());
  }
  std::unique_ptr<Subscription> subscribe(SubscriptionConfig config, Executor executor) override;
  Task<Memory> memory(std::string) override { co_return Memory{"life", "run"}; }

  Task<std::vector<TopicView>> topics() override {
    std::vector<TopicView> views;
    for (const auto& [name, partitions] : topics_) {
      TopicView view{{name, static_cast<int32_t>(partitions.size()), retentions_.at(name)}, {}};
      for (size_t i = 0; i < partitions.size(); ++i) {
        view.partitions.push_back({static_cast<int32_t>(i), partitions[i].first, partitions[i].end});
      }
      views.push_back(std::move(view));
    }
    co_return views;
  }
  Task<std::vector<GroupView>> groups() override {
    std::vector<GroupView> views;
    for (const auto& [name, group] : groups_) {
      for (const auto& [key, place] : group.places) {
        const auto& messages = topics_.at(key.first).at(static_cast<size_t>(key.second)).messages;
        const auto lag = std::ranges::count_if(messages, [&](const auto& m) { return m->offset >= place.committed; });
        views.push_back({.group = name, .topic = key.first, .partition = key.second, .lag = lag});
        if (place.committed > 0) views.back().committed = place.committed;
        if (place.owner != nullptr) views.back().member = "a member";
      }
    }
    co_return views;
  }
  Task<std::vector<Delivery>> read(std::string topic, int32_t partition, int64_t from, size_t most) override {
    co_await call("read");
    const auto assignment = std::make_shared<const Assignment>(Assignment{topic, partition});
    co_return deliveries(assignment, from, most);
  }
  Task<> trim(std::string topic, int32_t partition, int64_t before) override {
    Partition& trimmed = topics_.at(topic).at(static_cast<size_t>(partition));
    std::erase_if(trimmed.messages, [=](const auto& stored) { return stored->offset < before; });
    trimmed.first = std::max(trimmed.first, before);
    co_return;
  }

  // Removes what is older than the retention of its topic.
  void remove_expired() {
    for (auto& [name, partitions] : topics_) {
      const Time oldest = clock_.wall() - retentions_.at(name);
      for (Partition& partition : partitions) {
        std::erase_if(partition.messages, [=](const auto& stored) { return stored->at < oldest; });
        partition.first = partition.messages.empty() ? partition.end : partition.messages.front()->offset;
      }
    }
  }

  // How many messages the group has left behind.
  size_t committed(const std::string& group, const std::string& topic, int32_t partition) {
    const int64_t next = groups_[group].places[{topic, partition}].committed;
    const Partition& of = topics_.at(topic).at(static_cast<size_t>(partition));
    return static_cast<size_t>(std::ranges::count_if(of.messages, [=](const auto& m) { return m->offset < next; }));
  }
  size_t stored(const std::string& topic) const {
    size_t count = 0;
    for (const Partition& partition : topics_.at(topic)) count += partition.messages.size();
    return count;
  }
  int assignments(const std::string& group) { return groups_[group].assignments; }

 private:
  friend class PretendSubscription;
  struct Stored {
    int64_t offset;
    Time at;
    Message message;
  };
  struct Partition {
    std::vector<std::shared_ptr<const Stored>> messages;
    int64_t first = 0;
    int64_t end = 0;
  };
  using Partitions = std::vector<Partition>;

  Task<> call(std::string name) {
    const Duration duration = takes();
    if (duration > Duration{0}) co_await clock_.sleep_for(duration);
    if (fails(name)) throw EngineUnavailable("pretended log", name + " failed");
  }

  Published store(Message message) {
    const auto topic = topics_.find(message.topic);
    if (topic == topics_.end()) return Rejected{"unknown topic " + message.topic};
    const bool too_large = message.payload.size() > largest || bytes_of(message) > max_message_bytes;
    if (too_large || rejects(message)) return Rejected{"too large"};
    if (silent(message)) return Unknown{"no answer"};
    const int32_t number = partition_of(message.key, static_cast<int32_t>(topic->second.size()));
    Partition& partition = topic->second[static_cast<size_t>(number)];
    const int64_t offset = partition.end;
    partition.end += 1 + offset % 3 % 2;  // gaps
    Position position{message.topic, number, offset};
    on_store(message, position);
    partition.messages.push_back(std::make_shared<const Stored>(Stored{offset, clock_.wall(), std::move(message)}));
    return position;
  }

  std::vector<Delivery> deliveries(const AssignmentRef& assignment, int64_t from, size_t most) const {
    const Partition& partition = topics_.at(assignment->topic).at(static_cast<size_t>(assignment->partition));
    std::vector<Delivery> found;
    auto at = std::ranges::lower_bound(partition.messages, from, {}, [](const auto& stored) { return stored->offset; });
    size_t bytes = 0;
    for (; at != partition.messages.end() && found.size() < most && bytes < bytes_at_once; ++at) {
      const Stored& stored = **at;
      bytes += bytes_of(stored.message);
      Delivery delivery{assignment, stored.offset, stored.at, stored.message.key, stored.message.payload, {}, *at};
      for (const auto& [name, value] : stored.message.headers) delivery.headers.emplace_back(name, value);
      found.push_back(std::move(delivery));
    }
    return found;
  }

  Clock& clock_;
  Wakeup changed_;
  std::map<std::string, Partitions> topics_;
  std::map<std::string, Duration> retentions_;  // of topics
  std::map<std::string, PretendGroup> groups_;
};

class PretendSubscription : public Subscription {
 public:
  PretendSubscription(PretendLog& log, SubscriptionConfig config)
      : log_(log), group_(log.groups_[config.group]), config_(std::move(config)) {
    for (const std::string& topic : config_.topics) {
      for (size_t i = 0; i < log_.topics_.at(topic).size(); ++i) group_.places[{topic, static_cast<int32_t>(i)}];
    }
  }
  ~PretendSubscription() override {
    group_.leave(this);
    group_.lost.erase(this);
  }

  Task<Fetched> fetch(size_t most, Deadline deadline) override {
    co_await log_.call("fetch");
    while (true) {
      Fetched fetched = look(most);
      if (!fetched.empty() || deadline.passed(log_.clock_)) co_return fetched;
      const Instant soon = std::min(deadline.at, log_.clock_.now() + 500ms);  // for handovers whose time is up
      co_await log_.changed_.wait_until(log_.clock_, soon);
    }
  }

  Task<> commit(std::vector<Progress> progress) override {
    co_await log_.call("commit");
    for (const Progress& made : progress) {
      PretendPlace* place = group_.place_of(made.assignment);
      if (place == nullptr) {
        ++log_.lost_commits;
        continue;
      }
      place->committed = std::max(place->committed, made.next);
      log_.on_commit({made.assignment->topic, made.assignment->partition, made.next});
    }
  }

  void pause(const AssignmentRef& assignment) override { set_paused(assignment, true); }
  void resume(const AssignmentRef& assignment) override { set_paused(assignment, false); }

  Task<> let_go(AssignmentRef assignment) override {
    co_await log_.call("let_go");
    if (PretendPlace* place = group_.place_of(assignment)) PretendGroup::take_away(*place);
    log_.changed_.notify_all();
  }

  Task<> close() override {
    group_.leave(this);
    closed_ = true;
    log_.changed_.notify_all();
    co_return;
  }

 private:
  Fetched look(size_t most) {
    check(!closed_, "a closed subscription is fetched from");
    const Instant now = log_.clock_.now();
    if (group_.member(this) == nullptr) group_.join(this, now, config_.session);
    group_.member(this)->seen = now;
    group_.share(now, config_.handover);
    PretendMember& self = *group_.member(this);
    Fetched fetched{{}, std::exchange(self.leaving, {}), std::exchange(group_.lost[this], {})};
    for (auto& [key, place] : group_.places) {
      if (place.owner != this || place.paused || place.leave_by) continue;
      std::vector<Delivery> more = log_.deliveries(place.assignment, place.position, most - fetched.deliveries.size());
      if (!more.empty()) place.position = more.back().offset + 1;
      std::ranges::move(more, std::back_inserter(fetched.deliveries));
    }
    return fetched;
  }

  void set_paused(const AssignmentRef& assignment, bool paused) {
    if (PretendPlace* place = group_.place_of(assignment)) place->paused = paused;
    log_.changed_.notify_all();
  }

  PretendLog& log_;
  PretendGroup& group_;
  SubscriptionConfig config_;
  bool closed_ = false;
};

inline std::unique_ptr<Subscription> PretendLog::subscribe(SubscriptionConfig config, Executor) {
  return std::make_unique<PretendSubscription>(*this, std::move(config));
}

}  // namespace sluice::messaging
