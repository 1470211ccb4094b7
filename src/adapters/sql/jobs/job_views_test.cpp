#include "adapters/sql/jobs/job_views.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/testing/cpu_time.h"

namespace sluice::sql {
namespace {

TEST(StatsByKind, rows_of_one_kind_are_collected_and_kinds_come_by_name) {
  StatsByKind kinds;
  kinds.of("mail").rates.added = 1;
  kinds.of("enrich").rates.added = 2;
  kinds.of("mail").rates.failed = 3;
  const std::vector<jobs::KindStats> all = std::move(kinds).take();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].kind, "enrich");
  EXPECT_EQ(all[1].kind, "mail");
  EXPECT_EQ(all[1].rates.added, 1);
  EXPECT_EQ(all[1].rates.failed, 3);
}

TEST(StatsByKind, many_kinds_cost_little_each) {
  StatsByKind kinds;
  const auto collect = [&kinds] {
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 30'000; ++i) kinds.of(fmt::format("a-kind-of-{}", i)).rates.added = i;
    }
  };
  EXPECT_LT(cpu_time_of(collect), 5s);
  EXPECT_EQ(std::move(kinds).take().size(), 30'000U);
}

}  // namespace
}  // namespace sluice::sql
