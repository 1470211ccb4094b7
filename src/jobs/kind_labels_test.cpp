#include "jobs/kind_labels.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/job_metrics.h"
#include "runtime/metrics.h"

namespace sluice::jobs {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(KindLabels, kinds_beyond_the_bound_share_one_label) {
  KindLabels labels(2);
  EXPECT_EQ(labels.of("a"), "a");
  EXPECT_EQ(labels.of("b"), "b");
  EXPECT_EQ(labels.of("c"), "other");
  EXPECT_EQ(labels.of("a"), "a");
}

TEST(KindLabels, a_kept_kind_has_its_own_label_however_many_others_there_are) {
  KindLabels labels(1);
  labels.keep("mail");
  EXPECT_EQ(labels.of("a"), "a");
  EXPECT_EQ(labels.of("b"), "other");
  EXPECT_EQ(labels.of("mail"), "mail");
}

TEST(JobMetrics, clients_that_invent_kinds_do_not_add_series_without_end) {
  keep_kind("configured-kind");
  for (int i = 0; i < 1'000; ++i) observe_duration(fmt::format("invented-{}", i), "succeeded", 1ms);
  observe_duration("configured-kind", "succeeded", 1ms);
  const std::string exposed = metrics::expose();
  EXPECT_THAT(exposed, HasSubstr(R"(job_duration_seconds_count{kind="invented-1",outcome="succeeded"} 1)"));
  EXPECT_THAT(exposed, Not(HasSubstr("invented-999")));
  EXPECT_THAT(exposed, HasSubstr(R"(job_duration_seconds_count{kind="other",outcome="succeeded"})"));
  EXPECT_THAT(exposed, HasSubstr(R"(job_duration_seconds_count{kind="configured-kind",outcome="succeeded"} 1)"));
}

}  // namespace
}  // namespace sluice::jobs
