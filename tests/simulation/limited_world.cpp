#include "tests/simulation/limited_world.h"

namespace sluice::test {

using coordination::Drawn;
using coordination::LimitPlan;
using coordination::LimitState;

namespace {
constexpr int callers = 6;
constexpr int64_t year_2026 = 1'800'000'000'000'000;

int64_t evenly(Random& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random.below(static_cast<uint64_t>(most - least + 1)));
}
}  // namespace

SimulatedEngine::SimulatedEngine(std::shared_ptr<const LimitPlan> plan, Random& random)
    : plan_(std::move(plan)), random_(random), ahead_(year_2026) {}

Drawn SimulatedEngine::draw(size_t priority, int64_t least, int64_t most, int64_t true_time) {
  LimitState state(plan_, clock(true_time), kept_, run_);
  const Drawn drawn = state.decide(priority, least, most, clock(true_time));
  if (random_.below(5) == 0) replica_ = kept_;
  kept_ = state.save(run_);
  return drawn;
}

void SimulatedEngine::fail_over() {
  ++run_;
  kept_ = replica_;
  ahead_ = year_2026 + evenly(random_, -2'000'000, 2'000'000);
}

void SimulatedEngine::step_clock_back() {
  ahead_ -= evenly(random_, 1, 3'000'000);
}

LimitedWorld::LimitedWorld(WorldOptions options)
    : options_(std::move(options)),
      plan_(std::make_shared<const LimitPlan>(options_.plan)),
      random_(options_.seed),
      engine_(plan_, random_),
      given_(plan_->window.size()),
      on_the_wire_(plan_->window.size()) {}

int64_t LimitedWorld::between(int64_t least, int64_t most) {
  return evenly(random_, least, most);
}

// Mostly quick; sometimes as slow as a bad day.
int64_t LimitedWorld::travel() {
  return random_.below(20) == 0 ? between(0, options_.slowest.count()) : between(20, 400);
}

void LimitedWorld::run() {
  for (int caller = 0; caller < callers; ++caller) at(between(0, 1000), [this, caller] { ask(caller); });
  if (options_.faults) at(between(0, 2'000'000), [this] { break_something(); });
  while (!events_.empty()) {
    auto next = events_.extract(events_.begin());
    now_ = next.key();
    next.mapped()();
  }
}

void LimitedWorld::ask(int caller) {
  if (now_ > options_.microseconds) return;
  const auto priorities = static_cast<int64_t>(plan_->priority.size());
  const auto priority = static_cast<size_t>(options_.own_priority ? caller % priorities : between(0, priorities - 1));
  const int64_t least = random_.below(4) == 0 ? between(1, plan_->most_at_once(priority)) : 1;
  const int64_t most = between(least, least + plan_->most_at_once(priority));
  const int64_t sent = now_;
  at(now_ + travel(), [=, this] { decide(caller, priority, least, most, sent); });
}

void LimitedWorld::decide(int caller, size_t priority, int64_t least, int64_t most, int64_t sent) {
  const Drawn drawn = engine_.draw(priority, least, most, now_);
  if (drawn.given > 0) {
    for (const size_t window : plan_->windows_of(priority)) given_[window].push_back({now_, drawn.given});
  }
  at(now_ + travel(), [=, this] { use(caller, priority, drawn, sent); });
}

void LimitedWorld::use(int caller, size_t priority, const Drawn& drawn, int64_t sent) {
  const int64_t void_at = sent + plan_->permit_life.count();
  for (int64_t i = 0; i < drawn.given && now_ < void_at; ++i) {
    // At once, or at the last moment: prompt and late requests together must not exceed the limit.
    const int64_t when = random_.below(2) == 0 ? now_ : between(now_, void_at - 1);
    for (const size_t window : plan_->windows_of(priority)) on_the_wire_[window].push_back({when, 1});
    ++used_;
  }
  const int64_t told = std::min<int64_t>(drawn.wait.count(), 3'000'000);
  const int64_t pause = random_.below(3) == 0 ? between(0, 100'000) : random_.below(2) == 0 ? told : 0;
  at(now_ + pause, [this, caller] { ask(caller); });
}

void LimitedWorld::break_something() {
  if (now_ > options_.microseconds) return;
  ++faults_;
  switch (random_.below(4)) {
    case 0: engine_.lose_all(); break;
    case 1: engine_.restart(); break;
    case 2: engine_.fail_over(); break;
    default: engine_.step_clock_back(); break;
  }
  at(now_ + between(1000, 2'000'000), [this] { break_something(); });
}

}  // namespace sluice::test
