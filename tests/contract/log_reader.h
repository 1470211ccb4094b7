// Readers of a test, and the messages they have seen together.
#pragma once

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "messaging/message_log.h"

namespace sluice::test {

// In the order of delivery. The test fails if two readers hold a partition at once.
class LogHistory {
 public:
  struct Seen {
    int reader = 0;
    messaging::Position position;
    std::string key;
    std::string payload;
  };

  void saw(int reader, const messaging::Delivery& delivery) {
    const auto [holder, first] = holders_.emplace(place_of(*delivery.assignment), reader);
    EXPECT_TRUE(first || holder->second == reader)
        << delivery.assignment->topic << '/' << delivery.assignment->partition << " belongs to two readers";
    seen_.push_back({reader, delivery.position(), std::string(delivery.key), std::string(delivery.payload)});
  }
  void ended(int reader, const messaging::Assignment& assignment) {
    const auto found = holders_.find(place_of(assignment));
    if (found != holders_.end() && found->second == reader) holders_.erase(found);
  }

  const std::vector<Seen>& seen() const { return seen_; }
  // Without the first few.
  std::vector<std::string> payloads(size_t without = 0) const {
    std::vector<std::string> all;
    for (size_t i = without; i < seen_.size(); ++i) all.push_back(seen_[i].payload);
    return all;
  }
  size_t seen_by(int reader) const { return static_cast<size_t>(std::ranges::count(seen_, reader, &Seen::reader)); }
  size_t held_by(int reader) const {
    return static_cast<size_t>(
        std::ranges::count_if(holders_, [&](const auto& held) { return held.second == reader; }));
  }

  // Payloads are numbers that count from 0 for each key. How many of each were seen, where each number was first seen
  // directly after the one before: nothing lost, nothing reordered.
  std::map<std::string, int> unbroken_runs() const {
    std::map<std::string, int> next;
    for (const Seen& one : seen_) {
      const int number = std::stoi(one.payload);
      EXPECT_LE(number, next[one.key]) << "of " << one.key << ", seen by reader " << one.reader;
      if (number == next[one.key]) ++next[one.key];
    }
    return next;
  }

 private:
  using Place = std::pair<std::string, int32_t>;
  static Place place_of(const messaging::Assignment& assignment) { return {assignment.topic, assignment.partition}; }

  std::vector<Seen> seen_;
  std::map<Place, int> holders_;
};

// A member of a group with the manners of a Consumer, whose handler only takes notes.
class LogReader {
 public:
  struct Habits {
    size_t most = 100;
    bool commits = true;
    // Otherwise it keeps revoked partitions until `let_go`.
    bool lets_go = true;
    Duration session = 30s;  // longer than this machine lets a test stand still
  };

  LogReader(std::unique_ptr<messaging::Subscription> subscription, Habits habits, Clock& clock, LogHistory& history)
      : habits_(habits), subscription_(std::move(subscription)), clock_(clock), history_(history) {
    static int readers = 0;
    number_ = ++readers;
  }

  // One fetch with its consequences. Returns the fetched messages.
  Task<messaging::Fetched> read(Duration patience = 200ms) {
    const Deadline deadline = Deadline::after(clock_, patience);
    messaging::Fetched fetched = co_await subscription_->fetch(habits_.most, deadline);
    EXPECT_LE(fetched.deliveries.size(), habits_.most);
    for (const messaging::Delivery& each : fetched.deliveries) note(each);
    for (const messaging::AssignmentRef& each : fetched.lost) forget(each);
    losses_ += fetched.lost.size();
    std::ranges::copy(fetched.leaving, std::back_inserter(asked_back_));
    if (habits_.commits) co_await commit();
    if (habits_.lets_go) co_await let_go();
    co_return fetched;
  }

  // Gives revoked partitions back.
  Task<> let_go() {
    for (const messaging::AssignmentRef& each : std::exchange(asked_back_, {})) {
      forget(each);
      co_await subscription_->let_go(each);
    }
  }

  // All messages it has seen of its partitions.
  Task<> commit() {
    std::vector<messaging::Progress> progress;
    for (const auto& [assignment, next] : next_) progress.push_back({assignment, next});
    if (!progress.empty()) co_await subscription_->commit(std::move(progress));
  }
  Task<> commit(messaging::AssignmentRef assignment, int64_t next) {
    std::vector<messaging::Progress> progress{{std::move(assignment), next}};
    co_await subscription_->commit(std::move(progress));
  }

  // As a crashed reader appears to others: it does nothing any more.
  void fall_silent() {
    while (!next_.empty()) forget(next_.begin()->first);
  }

  // Commits as it is used to, and closes.
  Task<> leave() {
    if (left_) co_return;
    left_ = true;
    if (habits_.commits) co_await commit();
    fall_silent();
    co_await subscription_->close();
  }

  messaging::Subscription& subscription() { return *subscription_; }
  int number() const { return number_; }
  size_t asked_back() const { return asked_back_.size(); }
  size_t losses() const { return losses_; }
  // The assignment of a partition of which it has seen something; null: it has not, or it has ended.
  messaging::AssignmentRef assignment(int32_t partition) const {
    for (const auto& [assignment, next] : next_) {
      if (assignment->partition == partition) return assignment;
    }
    return nullptr;
  }

 private:
  void note(const messaging::Delivery& delivery) {
    const auto [at, first] = next_.emplace(delivery.assignment, 0);
    EXPECT_GT(delivery.offset + 1, at->second) << "an assignment goes only forward";
    at->second = delivery.offset + 1;
    history_.saw(number_, delivery);
  }
  void forget(messaging::AssignmentRef assignment) {
    next_.erase(assignment);
    history_.ended(number_, *assignment);
  }

  Habits habits_;
  std::unique_ptr<messaging::Subscription> subscription_;
  Clock& clock_;
  LogHistory& history_;
  int number_ = 0;
  std::map<messaging::AssignmentRef, int64_t> next_;
  std::vector<messaging::AssignmentRef> asked_back_;
  size_t losses_ = 0;
  bool left_ = false;
};

}  // namespace sluice::test
