#include "adapters/sql/jobs/claim_cursors.h"

#include <gtest/gtest.h>

#include "runtime/virtual_clock.h"

namespace sluice::sql {
namespace {

const ClaimPosition here{5, Time{1s}, {}};
const ClaimPosition further{6, Time{1s}, {}};

class ClaimCursorsTest : public testing::Test {
 protected:
  // A claim that takes `length` and gets enough jobs up to `last`.
  ClaimCursors::Start claim(std::optional<ClaimPosition> last, Duration length = 1ms) {
    const ClaimCursors::Start start = cursors_.begin("kind");
    clock_.advance(length);
    cursors_.ended("kind", start, last, last.has_value());
    return start;
  }

  VirtualClock clock_;
  ClaimCursors cursors_{clock_};
};

TEST_F(ClaimCursorsTest, a_claim_begins_where_the_last_one_ended) {
  EXPECT_TRUE(claim(here).from_the_beginning);
  EXPECT_EQ(claim(further).after, here);
  EXPECT_EQ(claim(further).after, further);
  EXPECT_TRUE(cursors_.begin("another kind").from_the_beginning);
}

TEST_F(ClaimCursorsTest, it_goes_back_every_second) {
  claim(here);
  clock_.advance(998ms);
  EXPECT_FALSE(claim(further).from_the_beginning);
  EXPECT_TRUE(claim(here).from_the_beginning);
  EXPECT_EQ(claim(here).after, here);
}

TEST_F(ClaimCursorsTest, it_goes_back_at_once_when_there_was_too_little_or_something_was_added) {
  claim(here);
  clock_.advance(20ms);
  EXPECT_FALSE(claim(std::nullopt).from_the_beginning);
  EXPECT_TRUE(claim(further).from_the_beginning);
  clock_.advance(20ms);
  EXPECT_FALSE(claim(further).from_the_beginning);
  cursors_.go_back_soon();
  EXPECT_TRUE(claim(further).from_the_beginning);
  EXPECT_FALSE(claim(further).from_the_beginning);
}

TEST_F(ClaimCursorsTest, where_going_back_is_dear_it_takes_at_most_a_twentieth_of_the_time) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(claim(std::nullopt, 200ms).from_the_beginning);
    clock_.advance(10ms);
  }
  clock_.advance(3700ms);
  EXPECT_FALSE(claim(std::nullopt).from_the_beginning);
  EXPECT_FALSE(cursors_.may_go_back("kind"));
  clock_.advance(200ms);
  EXPECT_TRUE(cursors_.may_go_back("kind"));
  EXPECT_TRUE(claim(here).from_the_beginning);
}

TEST_F(ClaimCursorsTest, finding_nothing_keeps_the_place) {
  claim(here, 500ms);
  clock_.advance(2s);
  EXPECT_TRUE(claim(std::nullopt, 500ms).from_the_beginning);
  EXPECT_TRUE(claim(std::nullopt, 500ms).from_the_beginning);
  EXPECT_EQ(claim(std::nullopt).after, here);
}

}  // namespace
}  // namespace sluice::sql
