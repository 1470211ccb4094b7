#include "adapters/sql/jobs/upkeep_cursor.h"

#include <gtest/gtest.h>

#include "runtime/virtual_clock.h"

namespace sluice::sql {
namespace {

using enum UpkeepCursor::Asker;

class UpkeepCursorTest : public testing::Test {
 protected:
  // A look that takes `length` and deals with everything up to `reached`.
  UpkeepCursor::Start look(Time reached, Duration length = 1ms, UpkeepCursor::Asker asker = background) {
    const UpkeepCursor::Start start = cursor_.begin(asker);
    clock_.advance(length);
    cursor_.looked(start);
    cursor_.ended(start, {reached, reached, reached});
    return start;
  }

  VirtualClock clock_;
  UpkeepCursor cursor_{clock_};
};

TEST_F(UpkeepCursorTest, a_look_begins_where_the_last_one_ended) {
  EXPECT_TRUE(look(Time{1h}).from_the_beginning);
  EXPECT_EQ(look(Time{2h}).after.locks, Time{1h});
  EXPECT_EQ(look(Time{3h}).after.scheduled, Time{2h});
}

TEST_F(UpkeepCursorTest, it_begins_anew_every_second) {
  look(Time{1h});
  clock_.advance(998ms);
  EXPECT_FALSE(look(Time{2h}).from_the_beginning);
  EXPECT_TRUE(look(Time{2h}).from_the_beginning);
}

TEST_F(UpkeepCursorTest, an_expensive_beginning_takes_a_twentieth_of_the_time_and_none_of_a_claims) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(look(Time{1h}, 5s).from_the_beginning);
    clock_.advance(95s);
  }
  EXPECT_FALSE(look(Time{1h}, 1ms, claim).from_the_beginning);
  EXPECT_TRUE(look(Time{1h}, 5s).from_the_beginning);
  clock_.advance(94s);
  EXPECT_FALSE(look(Time{1h}).from_the_beginning);
}

TEST_F(UpkeepCursorTest, a_beginning_that_is_never_answered_leaves_the_place_and_counts_as_expensive) {
  look(Time{1h});
  clock_.advance(1s);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(cursor_.begin(background).from_the_beginning);
    clock_.advance(10s);
  }
  const UpkeepCursor::Start next = look(Time{2h});
  EXPECT_FALSE(next.from_the_beginning);
  EXPECT_EQ(next.after.locks, Time{1h});
}

}  // namespace
}  // namespace sluice::sql
