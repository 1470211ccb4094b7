#include "tests/simulation/consumer_world.h"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>

namespace sluice::test {

using namespace messaging;

// One member's way to the log, which can be cut. What is behind the cut stays as it was until its session ends.
class CutOffLog : public MessageLog {
 public:
  explicit CutOffLog(PretendLog& log, Clock& clock) : log_(log), clock_(clock) {}

  bool cut = false;

  Task<> declare(std::vector<Topic> topics) override { return log_.declare(std::move(topics)); }
  Task<std::vector<Published>> publish(std::vector<Message> messages) override {
    if (cut) throw EngineUnavailable("log", "cut off");
    return log_.publish(std::move(messages));
  }
  Task<int32_t> partitions(std::string topic) override { return log_.partitions(std::move(topic)); }
  std::unique_ptr<Subscription> subscribe(SubscriptionConfig config, Executor executor) override;
  Task<Memory> memory(std::string topic) override { return log_.memory(std::move(topic)); }

 private:
  friend class CutOffSubscription;
  PretendLog& log_;
  Clock& clock_;
  std::unique_ptr<Subscription> behind_;
};

class CutOffSubscription : public Subscription {
 public:
  explicit CutOffSubscription(CutOffLog& log) : log_(log) {}

  Task<Fetched> fetch(size_t most, Deadline deadline) override {
    if (log_.cut) {
      co_await log_.clock_.sleep_until(deadline.at);
      throw EngineUnavailable("log", "cut off");
    }
    Fetched fetched = co_await log_.behind_->fetch(most, deadline);
    co_return fetched;
  }
  Task<> commit(std::vector<Progress> progress) override {
    if (log_.cut) throw EngineUnavailable("log", "cut off");
    return log_.behind_->commit(std::move(progress));
  }
  void pause(const AssignmentRef& assignment) override { log_.behind_->pause(assignment); }
  void resume(const AssignmentRef& assignment) override { log_.behind_->resume(assignment); }
  Task<> let_go(AssignmentRef assignment) override {
    if (log_.cut) throw EngineUnavailable("log", "cut off");
    return log_.behind_->let_go(std::move(assignment));
  }
  Task<> close() override {
    if (log_.cut) throw EngineUnavailable("log", "cut off");
    return log_.behind_->close();
  }

 private:
  CutOffLog& log_;
};

std::unique_ptr<Subscription> CutOffLog::subscribe(SubscriptionConfig config, Executor executor) {
  behind_ = log_.subscribe(std::move(config), std::move(executor));
  return std::make_unique<CutOffSubscription>(*this);
}

struct ConsumerWorld::Member {
  CutOffLog& log;
  std::unique_ptr<Consumer> consumer{};
  bool leaving = false;
  bool crashed = false;
  bool gone = false;
};

ConsumerWorld::ConsumerWorld(uint64_t seed) : chance_(seed), random_(seed) {
  config_.handlers = 1 + below(20);
  config_.in_work = 4 + below(100);
  config_.window = config_.in_work + below(1000);
  config_.handler_timeout = 3s;
  config_.session = 5s;
  config_.handover = 4s;
  config_.drain = 3s;
  config_.pause.max = 2s;
  config_.retry.max = 2s;
  log_.on_store = [this](const Message& message, const Position& at) { on_store(message, at); };
  log_.on_commit = [this](const Position& next) { on_commit(next); };
  log_.fails = [this](std::string_view) { return stormy_ && happens(0.05); };
  log_.takes = [this] { return happens(0.5) ? Duration{0} : std::chrono::milliseconds(below(stormy_ ? 300 : 5)); };
  asio::co_spawn(io_, log_.declare({{"topic", 6}, {"dead-letters", 2}}), [](const std::exception_ptr&) {});
  clock_.run(io_, clock_.now());
}

ConsumerWorld::~ConsumerWorld() {
  stop();
}

void ConsumerWorld::step(Weather weather) {
  stormy_ = weather == Weather::storm;
  if (stormy_) {
    disturb();
  } else {
    database_down_ = false;
    for (const auto& member : members_) member->log.cut = member->crashed;
    if (std::ranges::all_of(members_, &Member::leaving)) join();
  }
  if (weather != Weather::silence && happens(0.7)) publish();
  clock_.run(io_, clock_.now() + 100ms);
  std::erase_if(members_, [](const auto& member) { return member->gone; });
}

void ConsumerWorld::disturb() {
  if (happens(0.01)) database_down_ = !database_down_;
  if (members_.size() < 5 && happens(0.05)) join();
  for (const auto& member : members_) {
    if (member->leaving) continue;
    if (happens(0.003)) {
      leave(*member);
    } else if (happens(0.003)) {
      crash(*member);
    } else if (happens(member->log.cut ? 0.02 : 0.003)) {
      member->log.cut = !member->log.cut;
    }
  }
}

void ConsumerWorld::join() {
  CutOffLog& log = *cut_off_.emplace_back(std::make_unique<CutOffLog>(log_, clock_));
  Member& member = *members_.emplace_back(std::make_unique<Member>(log));
  member.consumer = std::make_unique<Consumer>(
      ConsumerParts{log, clock_, random_}, config_, ConsumerRole{"group", {"topic"}, "worker"},
      [this, &member](Delivery delivery) { return handle(member, std::move(delivery)); }, io_.get_executor());
  member.consumer->start();
}

void ConsumerWorld::leave(Member& member) {
  member.leaving = true;
  asio::co_spawn(io_, member.consumer->stop(), [&member](const std::exception_ptr&) { member.gone = true; });
}

// Nothing it does has an effect from now on; stopping it only frees its memory.
void ConsumerWorld::crash(Member& member) {
  member.crashed = true;
  member.log.cut = true;
  leave(member);
}

void ConsumerWorld::stop() {
  const Instant end = clock_.now() + 1min;
  for (const auto& member : members_) {
    if (!member->leaving) leave(*member);
  }
  while (!members_.empty() && clock_.now() < end) {
    clock_.run(io_, clock_.now() + 100ms);
    std::erase_if(members_, [](const auto& member) { return member->gone; });
  }
  if (!members_.empty()) blame("a member does not stop");
}

void ConsumerWorld::publish() {
  const size_t count = 1 + below(20);
  for (size_t i = 0; i < count; ++i) {
    std::string key = fmt::format("key {}", below(30));
    publishers_.spawn("publisher", publish_until_it_is_there({"topic", key, {}}));
  }
}

// Numbers of a key are given when they are stored, so that they define its order.
Task<> ConsumerWorld::publish_until_it_is_there(Message message) {
  while (true) {
    try {
      std::vector<Message> messages;
      messages.push_back(message);
      co_await log_.publish(std::move(messages));
      co_return;
    } catch (const EngineUnavailable&) {
    }
  }
}

void ConsumerWorld::on_store(const Message& message, const Position& position) {
  if (message.topic == "topic") {
    ++published_;
    stored_[position.partition].push_back({position.offset, message.key, ++stories_[message.key].published});
    return;
  }
  // The origin stands in the letter; which message it was is in the diary.
  ++letters_;
  const auto stood = std::ranges::find(message.headers, "letter-origin", &Headers::value_type::first);
  const Position origin = *parse_letter_id(stood->second);
  const auto& diary = stored_[origin.partition];
  const auto entry = std::ranges::lower_bound(diary, origin.offset, {}, &Stored::offset);
  finish(entry->key, entry->number);
}

Task<Handled> ConsumerWorld::handle(Member& member, Delivery delivery) {
  const auto& diary = stored_[delivery.assignment->partition];
  const Stored stored = *std::ranges::lower_bound(diary, delivery.offset, {}, &Stored::offset);
  if (member.crashed) throw std::runtime_error("crashed");
  if (stories_[stored.key].finished < stored.number - 1) {
    blame(fmt::format("{} of {} begins after {}", stored.number, stored.key, stories_[stored.key].finished));
  }
  const bool hangs = stormy_ && happens(0.005);
  const Duration takes = hangs ? Duration{1h} : std::chrono::milliseconds(happens(0.5) ? 0 : below(200));
  if (takes > Duration{0}) co_await clock_.sleep_for(takes);
  if (member.crashed) throw std::runtime_error("crashed");
  if (database_down_) throw EngineUnavailable("database", "down");
  Handled handled = verdict();
  if (handled.kind == Handled::Kind::done) finish(stored.key, stored.number);
  co_return handled;
}

Handled ConsumerWorld::verdict() {
  if (!stormy_ || happens(0.9)) return Handled::done();
  switch (below(4)) {
    case 0: return Handled::dead("BROKEN");
    case 1: return Handled::later(std::chrono::milliseconds(below(1000)));
    case 2: throw std::runtime_error("a mistake");
    default: return Handled::retry("BUSY");
  }
}

void ConsumerWorld::finish(const std::string& key, int number) {
  Story& story = stories_[key];
  if (number > story.finished + 1) blame(fmt::format("{} of {} ends after {}", number, key, story.finished));
  story.finished = std::max(story.finished, number);
}

void ConsumerWorld::on_commit(const Position& next) {
  const auto& diary = stored_[next.partition];
  size_t& checked = checked_[next.partition];  // finished messages stay finished
  for (; checked < diary.size() && diary[checked].offset < next.offset; ++checked) {
    const Stored& stored = diary[checked];
    if (stories_[stored.key].finished < stored.number) {
      blame(fmt::format("{} of {} was committed unfinished", stored.number, stored.key));
    }
  }
}

int ConsumerWorld::finished() const {
  int count = 0;
  for (const auto& [key, story] : stories_) count += story.finished;
  return count;
}

bool ConsumerWorld::all_committed() {
  size_t committed = 0;
  for (int32_t partition = 0; partition < 6; ++partition) committed += log_.committed("group", "topic", partition);
  return committed == static_cast<size_t>(published_);
}

void ConsumerWorld::blame(std::string what) {
  if (wrong_.empty()) wrong_ = std::move(what);
}

}  // namespace sluice::test
