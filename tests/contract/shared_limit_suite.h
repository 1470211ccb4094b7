// The fixture of shared_limit_contract.cpp, for the engines that run it.
#pragma once

#include "coordination/shared_limit.h"
#include "tests/contract/database_fixture.h"
#include "tests/support/window_check.h"

namespace sluice::test {

// An engine's limits, opened for one test.
class OpenLimits {
 public:
  virtual ~OpenLimits() = default;
  // One more instance of the limit that the plan names. It lives as long as this.
  virtual coordination::SharedLimit& instance(coordination::LimitPlan plan) = 0;
  // The engine loses all it knows about the plan's limit. Instances from before are not used any more.
  virtual Task<> lose(coordination::LimitPlan plan) = 0;
  // Before it is destroyed; everything it does is over afterwards.
  virtual Task<> close() { co_return; }
};

struct LimitEngine {
  std::string name;
  std::function<std::unique_ptr<OpenLimits>(asio::io_context& io)> open;

  friend void PrintTo(const LimitEngine& engine, std::ostream* out) { *out << engine.name; }
};

namespace contract {

struct Draws {
  std::vector<Happened> given;
  std::vector<coordination::Stamp> short_of;  // when less was given than was asked for
};

// Draws repeatedly until `end`, by the engine's clock, and until `draws` has `enough`: this machine may stand still
// until long after the end. Notes its permits.
inline Task<> draw_often(coordination::SharedLimit& limit, size_t priority, int64_t most, coordination::Stamp end,
                         Draws& draws, int64_t enough = 0) {
  while (true) {
    const coordination::Drawn drawn = co_await limit.draw(priority, 1, most);
    if (drawn.given > 0) draws.given.push_back({drawn.stamp, drawn.given});
    if (drawn.given < most) draws.short_of.push_back(drawn.stamp);
    if (drawn.stamp >= end && total(draws.given) >= enough) co_return;
  }
}

}  // namespace contract

class SharedLimitContract : public TaskFixture, public testing::WithParamInterface<LimitEngine> {
 protected:
  using Drawn = coordination::Drawn;
  using Limit = coordination::SharedLimit;
  using Plan = coordination::LimitPlan;
  static constexpr size_t high = 0;
  static constexpr size_t low = 1;

  void SetUp() override {
    open_ = GetParam().open(io_);
    static int count = 0;
    plan_ = {.name = fmt::format("limit-{}-{}", GetParam().name, ++count),
             .permit_life = 20ms,
             .window = {{"global", 45, 300ms}, {"low", 35, 300ms}},
             .day = {},
             .priority = {{.name = "HIGH", .windows = {"global"}}, {.name = "LOW", .windows = {"global", "low"}}}};
  }
  void TearDown() override {
    if (open_) run(open_->close());
  }

  Limit& instance() { return open_->instance(plan_); }
  void lose() { run(open_->lose(plan_)); }
  Drawn draw(Limit& limit, size_t priority, int64_t least, int64_t most) {
    return run(limit.draw(priority, least, most));
  }
  // As soon as there are that many.
  Drawn draw_all(Limit& limit, size_t priority, int64_t count) {
    Drawn drawn;
    EXPECT_TRUE(eventually([&] { return (drawn = draw(limit, priority, count, count)).given == count; }));
    return drawn;
  }
  // Draws `count`, and does what `observe` does until its last draw is within the window of the first: if this machine
  // stood still for longer, nothing was observed. Both return what they drew; asserts come afterwards.
  template <class Observe>
  Drawn draw_and_observe(Limit& limit, size_t priority, int64_t count, Duration window, Observe observe) {
    Drawn first;
    EXPECT_TRUE(eventually([&] {
      first = draw_all(limit, priority, count);
      const Drawn last = observe();
      return last.stamp < first.stamp + window.count();
    }));
    return first;
  }
  // Nothing is there for a window, counted from when the engine first knew of the limit.
  void expect_spent(const Drawn& drawn) const {
    EXPECT_EQ(drawn.given, 0);
    EXPECT_GT(drawn.wait, 100ms);
    EXPECT_LE(drawn.wait.count(), span());
  }
  // Plan and limit with a day for LOW.
  Limit& instance_with_day() {
    plan_.day = {{.name = "day", .most = 1'000'000}};
    plan_.priority[low].days = {"day"};
    return instance();
  }
  int64_t span() const { return plan_.span(plan_.window[0]).count(); }

  std::unique_ptr<OpenLimits> open_;
  Plan plan_;
};

}  // namespace sluice::test
