#include "jobs/byte_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::jobs {
namespace {

using testing::ElementsAre;

// The sizes of successive claims when all jobs have that size.
std::vector<size_t> helpings(ByteBudget budget, size_t job_bytes) {
  std::vector<size_t> all;
  while (const size_t next = budget.next()) {
    all.push_back(next);
    budget.took(next, next * job_bytes);
  }
  return all;
}

TEST(ByteBudget, few_are_taken_at_once) {
  EXPECT_THAT(helpings(ByteBudget(10), 100), ElementsAre(10));
  EXPECT_THAT(helpings(ByteBudget(0), 100), ElementsAre());
}

TEST(ByteBudget, many_small_ones_are_taken_in_few_helpings) {
  EXPECT_THAT(helpings(ByteBudget(1'000), 100), ElementsAre(16, 64, 256, 664));
}

TEST(ByteBudget, large_ones_are_taken_up_to_the_budget) {
  EXPECT_THAT(helpings(ByteBudget(1'000, 8 << 20), 1 << 20), ElementsAre(16));
  EXPECT_THAT(helpings(ByteBudget(1'000, 8 << 20), 100 << 10), ElementsAre(16, 64, 1, 1));
}

}  // namespace
}  // namespace sluice::jobs
