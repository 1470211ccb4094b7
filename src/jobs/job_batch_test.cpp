#include "jobs/job_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/testing/captured_log.h"

namespace sluice::jobs {
namespace {

using testing::HasSubstr;

TEST(JobBatch, the_log_gets_one_line_when_the_last_has_ended) {
  CapturedLog log;
  JobBatch batch(3);
  batch.ended("a.example", JobEnd::succeeded, 10ms);
  batch.ended("b.example", JobEnd::failed, 20ms);
  EXPECT_EQ(log.text(), "");
  batch.ended("b.example", JobEnd::dead, 30ms);
  const std::string line = log.text();
  EXPECT_THAT(line, HasSubstr(R"("batch_claimed_count":3,"job_duration_ms":20,"job_duration_max_ms":30)"));
  EXPECT_THAT(line, HasSubstr(R"("success_count":1,"fail_count":2,"released_count":0,"lost_count":0)"));
  EXPECT_THAT(line, HasSubstr(R"("failing_domains":"b.example 2")"));
}

TEST(JobBatch, what_was_handed_back_or_lost_blames_nobody) {
  CapturedLog log;
  JobBatch batch(4);
  batch.ended("a.example", JobEnd::released, 10ms);
  batch.ended("b.example", JobEnd::lost, 10ms);
  batch.ended("b.example", JobEnd::released, 10ms);
  batch.ended(std::nullopt, JobEnd::succeeded, 10ms);
  const std::string line = log.text();
  EXPECT_THAT(line, HasSubstr(R"("success_count":1,"fail_count":0,"released_count":2,"lost_count":1)"));
  EXPECT_THAT(line, HasSubstr(R"("failing_domains":"")"));
}

}  // namespace
}  // namespace sluice::jobs
