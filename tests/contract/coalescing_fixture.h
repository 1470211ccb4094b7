// The fixture of suites of coordination::Coalescing.
#pragma once

#include <functional>
#include <memory>

#include "coordination/coalescing.h"
#include "tests/contract/task_fixture.h"

namespace sluice::test {

// A coalescing opened for one test, as two instances of a server see it.
class OpenCoalescing {
 public:
  virtual ~OpenCoalescing() = default;
  virtual coordination::Coalescing& one() = 0;
  virtual coordination::Coalescing& other() = 0;
  // The engine loses everything it kept.
  virtual void wipe() = 0;
  virtual Task<> close() { co_return; }
};

struct CoalescingEngine {
  std::string name;
  std::function<std::unique_ptr<OpenCoalescing>(asio::io_context& io, coordination::CoalescingPlan plan)> open;

  friend void PrintTo(const CoalescingEngine& engine, std::ostream* out) { *out << engine.name; }
};

class CoalescingFixture : public TaskFixture, public testing::WithParamInterface<CoalescingEngine> {
 protected:
  using Coalescing = coordination::Coalescing;
  using FetchAnswer = coordination::FetchAnswer;
  using FetchOutcome = coordination::FetchOutcome;
  using FetchRequest = coordination::FetchRequest;
  using RefreshAnswer = coordination::RefreshAnswer;
  using RefreshOutcome = coordination::RefreshOutcome;
  using RefreshRequest = coordination::RefreshRequest;
  using Version = coordination::Version;

  static constexpr size_t high = 0;
  static constexpr size_t low = 1;

  void SetUp() override { open(1min); }
  void TearDown() override { close(); }

  void open(Duration lease) {
    close();
    const coordination::CoalescingPlan plan{
        .lanes = {{"urgent", lease}, {"usual", lease}, {"idle", lease}, {"long", 1min}}};
    open_ = GetParam().open(io_, plan);
  }
  void close() {
    if (!open_) return;
    run(open_->close());
    open_.reset();
  }
  Coalescing& one() { return open_->one(); }
  Coalescing& other() { return open_->other(); }
  void wipe() { open_->wipe(); }

  RefreshAnswer ask(size_t lane, Version row = 0, std::vector<Duration> lags = {}) {
    return run(one().request({item_, lane, row, std::move(lags)}));
  }
  RefreshOutcome outcome_of(size_t lane, Version row = 0) { return ask(lane, row).outcome; }
  FetchAnswer look(Version version, Version row = 0) { return run(one().look({item_, version, row, low, "looker"})); }
  FetchAnswer begin(Version version, const std::string& owner = "me", Version row = 0) {
    return run(one().begin({item_, version, row, low, owner}));
  }
  // In a lane whose leases outlast any pause of this machine.
  FetchAnswer begin_for_long(Version version, const std::string& owner) {
    return run(one().begin({item_, version, 0, 3, owner}));
  }
  void finish(Version covers, const std::string& owner = "me") { run(one().finish(item_, owner, covers)); }
  void abandon(const std::string& owner = "me", std::optional<Version> given_up = {}) {
    run(one().abandon(item_, owner, given_up));
  }
  bool unpublish(const RefreshAnswer& answer) { return run(one().unpublish(item_, answer)); }
  // Waits, fetched and stored.
  Version refresh(const std::string& owner = "me") {
    const Version version = ask(low).message.version;
    const Version covers = begin(version, owner).covers;
    finish(covers, owner);
    return covers;
  }

  // No other test of this program uses it: engines outlast tests.
  std::string item_ = unique("item");

 private:
  std::unique_ptr<OpenCoalescing> open_;
};

}  // namespace sluice::test
