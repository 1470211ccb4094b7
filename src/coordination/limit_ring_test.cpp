#include "coordination/limit_ring.h"

#include <map>

#include <gtest/gtest.h>

#include "base/random.h"

namespace sluice::coordination {
namespace {

constexpr Stamp start = 1'800'000'000'000'000;

// Asks for `wanted` as the users of a ring do.
int64_t draw(LimitRing& ring, int64_t wanted, Stamp now) {
  ring.turn_to(now);
  const int64_t given = ring.available(wanted, now);
  ring.take(given, now);
  return given;
}

TEST(LimitRing, a_new_one_is_spent_for_a_whole_span) {
  LimitRing ring(3, 100us, start);
  EXPECT_EQ(draw(ring, 1, start + 99), 0);
  EXPECT_EQ(ring.wait_for(1, start + 99), 1us);
  EXPECT_EQ(draw(ring, 5, start + 100), 3);
  EXPECT_EQ(draw(ring, 1, start + 100), 0);
  EXPECT_EQ(ring.wait_for(2, start + 100), 100us);
}

TEST(LimitRing, idle_time_saves_nothing_up) {
  LimitRing ring(3, 100us, start);
  EXPECT_EQ(draw(ring, 10, start + 1'000'000), 3);
  EXPECT_EQ(draw(ring, 10, start + 1'000'099), 0);
}

TEST(LimitRing, the_wait_is_exact) {
  LimitRing ring(2, 100us, start);
  EXPECT_EQ(draw(ring, 1, start + 100), 1);
  EXPECT_EQ(draw(ring, 1, start + 130), 1);
  EXPECT_EQ(ring.wait_for(1, start + 150), 50us);
  EXPECT_EQ(ring.wait_for(2, start + 150), 80us);
  EXPECT_EQ(draw(ring, 1, start + 199), 0);
  EXPECT_EQ(draw(ring, 2, start + 200), 1);
}

TEST(LimitRing, a_clock_that_went_back_costs_one_span) {
  LimitRing ring(2, 100us, start);
  EXPECT_EQ(draw(ring, 2, start + 500), 2);
  EXPECT_EQ(draw(ring, 1, start + 499), 0);
  EXPECT_EQ(draw(ring, 1, start + 598), 0);
  EXPECT_EQ(draw(ring, 2, start + 599), 2);
}

TEST(LimitRing, what_was_kept_goes_on_and_another_length_is_spent) {
  LimitRing ring(4, 100us, start);
  EXPECT_EQ(draw(ring, 3, start + 100), 3);
  LimitRing kept(4, 100us, ring.stamps(), ring.used(), start + 101);
  EXPECT_EQ(kept.remaining(start + 101), 1);
  EXPECT_EQ(kept.stamps(), ring.stamps());
  const LimitRing other(5, 100us, ring.stamps(), ring.used(), start + 101);
  EXPECT_EQ(other.remaining(start + 200), 0);
  EXPECT_EQ(other.remaining(start + 201), 5);
}

// The definition of a window: counts the permits of the last span one by one.
class CountedWindow {
 public:
  CountedWindow(int64_t most, Duration span, Stamp now) : most_(most), span_(span.count()) { given_[now] = most; }

  int64_t within(Stamp now) const {
    int64_t count = 0;
    for (auto at = given_.upper_bound(now - span_); at != given_.end(); ++at) count += at->second;
    return count;
  }
  int64_t available(Stamp now) const { return most_ - within(now); }
  void take(int64_t count, Stamp now) { given_[now] += count; }

 private:
  int64_t most_;
  int64_t span_;
  std::map<Stamp, int64_t> given_;
};

TEST(LimitRing, up_to_ten_thousand_it_gives_exactly_what_the_definition_allows) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SeededRandom random(seed);
    const auto most = static_cast<int64_t>(1 + random.below(40));
    const Duration span{100 + static_cast<int64_t>(random.below(1000))};
    LimitRing ring(most, span, start);
    CountedWindow model(most, span, start);
    Stamp now = start;
    for (int step = 0; step < 400; ++step) {
      now += static_cast<Stamp>(random.below(static_cast<uint64_t>(span.count()) / (1 + random.below(20))));
      const auto wanted = static_cast<int64_t>(1 + random.below(static_cast<uint64_t>(most) + 3));
      ASSERT_EQ(ring.available(wanted, now), std::min(wanted, model.available(now))) << "seed " << seed;
      const int64_t given = draw(ring, wanted, now);
      model.take(given, now);
      const Duration wait = ring.wait_for(1, now);
      ASSERT_EQ(model.available(now + wait.count()) >= 1, true) << "seed " << seed;
      if (wait > 0us) {
        ASSERT_LT(model.available(now + wait.count() - 1), 1) << "seed " << seed;
      }
    }
  }
}

TEST(LimitRing, beyond_ten_thousand_it_never_gives_more_and_nearly_as_much) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SeededRandom random(seed);
    const auto most = static_cast<int64_t>(10'001 + random.below(100'000));
    constexpr Duration span = 1s;
    LimitRing ring(most, span, start);
    CountedWindow model(most, span, start);
    Stamp now = start + span.count();
    const Stamp end = now + 5 * span.count();
    int64_t total = 0;
    while (now < end) {
      const int64_t given = draw(ring, static_cast<int64_t>(1 + random.below(3000)), now);
      ASSERT_LE(given, model.available(now)) << "seed " << seed;
      model.take(given, now);
      total += given;
      now += static_cast<Stamp>(random.below(10'000));
    }
    EXPECT_GT(total, most * 49 / 10) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice::coordination
