// What coalescing should answer, said by what has happened instead of by a state.
//
// The model remembers every fetch and every message of one item in the order they came, and answers by looking them
// through: a version is satisfied if a fetch that began after it was issued ended well, or if a caller knew a row of
// that version or a higher one. It knows no time: leases do not end and no message is presumed lost.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordination/coalescing.h"

namespace sluice::test {

class CoalescingModel {
 public:
  using Version = coordination::Version;
  using FetchOutcome = coordination::FetchOutcome;
  using RefreshOutcome = coordination::RefreshOutcome;

  RefreshOutcome request(size_t lane, Version row) {
    known_row_ = std::max(known_row_, row);
    if (running_ != nullptr) return RefreshOutcome::already;
    if (!waits()) return RefreshOutcome::published;
    return lane < messages_[*waiting_].lane ? RefreshOutcome::upgraded : RefreshOutcome::already;
  }
  // The message that `request` said to publish; returns its number.
  size_t publish(size_t lane, Version version) {
    const std::optional<size_t> before = waits() ? waiting_ : std::nullopt;
    messages_.push_back({lane, version, ++moment_, before});
    waiting_ = messages_.size() - 1;
    return *waiting_;
  }
  bool unpublish(size_t message) {
    if (!waits() || waiting_ != message) return false;
    waiting_ = messages_[message].before;
    return true;
  }

  FetchOutcome look(size_t message, Version row, const std::string& owner) {
    known_row_ = std::max(known_row_, row);
    if (satisfied(messages_[message])) return FetchOutcome::obsolete;
    if (running_ != nullptr && running_->owner != owner) return FetchOutcome::busy;
    return FetchOutcome::run;
  }
  // Returns the version that the fetch covers.
  Version begin(const std::string& owner) {
    Version covers = 0;
    for (const Message& message : messages_) covers = std::max(covers, message.version);
    fetches_.push_back(std::make_unique<Fetch>(owner, ++moment_, covers));
    running_ = fetches_.back().get();
    return covers;
  }
  void finish(const std::string& owner, Version covers) {
    for (const auto& fetch : fetches_) {
      if (fetch->owner == owner && fetch->covers == covers) fetch->succeeded = true;
    }
    if (running_ != nullptr && running_->owner == owner) running_ = nullptr;
  }
  void abandon(const std::string& owner, std::optional<size_t> given_up) {
    if (running_ != nullptr && running_->owner == owner) running_ = nullptr;
    if (given_up && waiting_ == given_up) waiting_.reset();
  }

  size_t messages() const { return messages_.size(); }
  Version version(size_t message) const { return messages_[message].version; }
  size_t lane(size_t message) const { return messages_[message].lane; }

 private:
  struct Message {
    size_t lane;
    Version version;
    int issued;
    std::optional<size_t> before;
  };
  struct Fetch {
    std::string owner;
    int began;
    Version covers;
    bool succeeded = false;
  };

  bool satisfied(const Message& message) const {
    if (known_row_ >= message.version) return true;
    return std::ranges::any_of(fetches_,
                               [&](const auto& fetch) { return fetch->succeeded && fetch->began > message.issued; });
  }
  bool waits() const { return waiting_ && !satisfied(messages_[*waiting_]); }

  int moment_ = 0;
  std::vector<Message> messages_;
  std::vector<std::unique_ptr<Fetch>> fetches_;
  std::optional<size_t> waiting_;
  Fetch* running_ = nullptr;
  Version known_row_ = 0;
};

}  // namespace sluice::test
