#include "jobs/cron.h"

#include <gtest/gtest.h>

namespace sluice::jobs {
namespace {

std::string next(const char* cron, const char* after, const char* zone = "UTC") {
  const auto time = Cron::parse(cron).value().next(parse_time(after).value(), TimeZone::find(zone).value());
  return time ? format_time(*time).substr(0, 16) : "never";
}

TEST(Cron, fields_say_when) {
  EXPECT_EQ(next("* * * * *", "2026-05-01T10:00:00Z"), "2026-05-01T10:01");
  EXPECT_EQ(next("*/15 * * * *", "2026-05-01T10:01:30Z"), "2026-05-01T10:15");
  EXPECT_EQ(next("30 3 * * *", "2026-05-01T03:30:00Z"), "2026-05-02T03:30");
  EXPECT_EQ(next("0 9-17/4 * * mon-fri", "2026-05-01T17:00:00Z"), "2026-05-04T09:00");
  EXPECT_EQ(next("0 0 29 feb *", "2026-05-01T00:00:00Z"), "2028-02-29T00:00");
  EXPECT_EQ(next("0 0 1,15 * *", "2026-05-01T00:00:00Z"), "2026-05-15T00:00");
  EXPECT_EQ(next("0 0 * * 7", "2026-05-01T00:00:00Z"), "2026-05-03T00:00");
  EXPECT_EQ(next("0 0 30 2 *", "2026-05-01T00:00:00Z"), "never");
}

TEST(Cron, either_day_is_enough_where_both_are_given) {
  EXPECT_EQ(next("0 0 13 * fri", "2026-05-01T00:00:00Z"), "2026-05-08T00:00");
  EXPECT_EQ(next("0 0 13 * fri", "2026-05-08T00:00:00Z"), "2026-05-13T00:00");
}

TEST(Cron, it_is_meant_in_its_time_zone) {
  EXPECT_EQ(next("0 9 * * *", "2026-05-01T00:00:00Z", "Asia/Seoul"), "2026-05-02T00:00");
  EXPECT_EQ(next("0 9 * * *", "2026-03-07T20:00:00Z", "America/New_York"), "2026-03-08T13:00");
  EXPECT_EQ(next("0 9 * * *", "2026-03-06T20:00:00Z", "America/New_York"), "2026-03-07T14:00");
}

TEST(Cron, a_time_that_does_not_exist_is_left_out_and_one_that_comes_twice_counts_once) {
  EXPECT_EQ(next("30 2 * * *", "2026-03-08T00:00:00Z", "America/New_York"), "2026-03-09T06:30");
  EXPECT_EQ(next("30 1 * * *", "2026-11-01T00:00:00Z", "America/New_York"), "2026-11-01T05:30");
  EXPECT_EQ(next("30 1 * * *", "2026-11-01T05:30:00Z", "America/New_York"), "2026-11-02T06:30");
  EXPECT_EQ(next("30 * * * *", "2026-11-01T05:30:00Z", "America/New_York"), "2026-11-01T06:30");
}

TEST(Cron, at_the_hour_that_comes_twice_it_counts_what_a_field_means_and_not_how_it_is_written) {
  // In Berlin it is 2:00 at 0:00Z and again at 1:00Z.
  for (const char* certain_hours : {"30 */2 * * *", "30 0-23/2 * * *", "30 0,2,4,6,8,10,12,14,16,18,20,22 * * *"}) {
    EXPECT_EQ(next(certain_hours, "2026-10-24T23:00:00Z", "Europe/Berlin"), "2026-10-25T00:30");
    EXPECT_EQ(next(certain_hours, "2026-10-25T00:30:00Z", "Europe/Berlin"), "2026-10-25T03:30");
  }
  for (const char* every_hour : {"30 * * * *", "30 */1 * * *", "30 0-23 * * *", "30 0-11,12-23 * * *"}) {
    EXPECT_EQ(next(every_hour, "2026-10-24T23:30:00Z", "Europe/Berlin"), "2026-10-25T00:30");
    EXPECT_EQ(next(every_hour, "2026-10-25T00:30:00Z", "Europe/Berlin"), "2026-10-25T01:30");
  }
  // On Lord Howe Island clocks are set back by half an hour, from 2:00 to 1:30.
  EXPECT_EQ(next("45 1 * * *", "2026-04-04T14:00:00Z", "Australia/Lord_Howe"), "2026-04-04T14:45");
  EXPECT_EQ(next("45 1 * * *", "2026-04-04T14:45:00Z", "Australia/Lord_Howe"), "2026-04-05T15:15");
}

TEST(Cron, other_texts_are_refused) {
  for (const char* bad : {"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *",
                          "* * * * 8", "5-1 * * * *", "*/0 * * * *", "a * * * *", "1,, * * * *", "1-2-3 * * * *"}) {
    EXPECT_FALSE(Cron::parse(bad)) << bad;
  }
}

}  // namespace
}  // namespace sluice::jobs
