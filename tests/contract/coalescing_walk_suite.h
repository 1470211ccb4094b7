// The fixture of coalescing_walk_contract.cpp, for the engines that run it.
#pragma once

#include <deque>
#include <map>
#include <random>

#include "tests/contract/coalescing_fixture.h"
#include "tests/contract/coalescing_model.h"
#include "tests/support/run_length.h"

namespace sluice::test {

class CoalescingWalk : public CoalescingFixture {
 protected:
  void start(uint64_t seed) {
    chance_.seed(seed);
    model_ = {};
    answers_.clear();
    covers_.clear();
    row_ = 0;
    item_ += fmt::format("-{}", seed);
  }

  size_t below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(chance_); }
  Coalescing& somebody() { return below(2) == 0 ? one() : other(); }
  std::string some_owner() { return fmt::format("owner {}", below(3)); }
  // A caller's knowledge of the row: the truth, or nothing.
  Version some_row() { return below(2) == 0 ? row_ : 0; }

  void step() {
    switch (below(8)) {
      case 0:
      case 1:
      case 2: return walk_request();
      case 3: return walk_unpublish();
      case 4:
      case 5: return walk_fetch();
      case 6: return walk_finish();
      default: return walk_abandon();
    }
  }

  void walk_request() {
    const size_t lane = below(3);
    const Version row = some_row();
    const RefreshOutcome expected = model_.request(lane, row);
    const RefreshAnswer answer = run(somebody().request({item_, lane, row, {1h, 1h, 1h}}));
    ASSERT_EQ(answer.outcome, expected);
    if (!answer.to_publish()) return;
    for (const auto& [message, earlier] : answers_) ASSERT_GT(answer.message.version, earlier.message.version);
    answers_.emplace(model_.publish(lane, answer.message.version), answer);
  }
  void walk_unpublish() {
    if (model_.messages() == 0) return;
    const size_t message = below(2) == 0 ? model_.messages() - 1 : below(model_.messages());
    const bool taken_back = run(somebody().unpublish(item_, answers_.at(message)));
    ASSERT_EQ(taken_back, model_.unpublish(message));
  }
  void walk_fetch() {
    if (model_.messages() == 0) return;
    const size_t message = below(model_.messages());
    const Version row = some_row();
    const std::string owner = some_owner();
    const FetchOutcome expected = model_.look(message, row, owner);
    const bool begins = below(2) == 0;
    const FetchRequest request{item_, model_.version(message), row, model_.lane(message), owner};
    const FetchAnswer answer = run(begins ? somebody().begin(request) : somebody().look(request));
    ASSERT_EQ(answer.outcome, expected);
    if (!begins || answer.outcome != FetchOutcome::run) return;
    ASSERT_EQ(answer.covers, model_.begin(owner));
    covers_[owner] = answer.covers;
  }
  void walk_finish() {
    const std::string owner = some_owner();
    if (!covers_.contains(owner)) return;
    row_ = std::max(row_, covers_[owner]);
    if (below(4) == 0) return;  // stored, but not reported
    model_.finish(owner, covers_[owner]);
    run(somebody().finish(item_, owner, covers_[owner]));
  }
  void walk_abandon() {
    const std::string owner = some_owner();
    std::optional<size_t> given_up;
    if (model_.messages() > 0 && below(2) == 0) given_up = below(model_.messages());
    model_.abandon(owner, given_up);
    const std::optional<Version> version = given_up ? std::optional(model_.version(*given_up)) : std::nullopt;
    run(somebody().abandon(item_, owner, version));
  }

  std::mt19937_64 chance_;
  CoalescingModel model_;
  std::map<size_t, RefreshAnswer> answers_;
  std::map<std::string, Version> covers_;  // of each owner's last fetch
  Version row_ = 0;
};

}  // namespace sluice::test
