#include "runtime/time_zone.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using std::chrono::hours;

std::chrono::seconds offset(const char* zone, const char* time) {
  return TimeZone::find(zone).value().offset_at(parse_time(time).value());
}

TEST(TimeZone, clocks_change_where_they_do) {
  EXPECT_EQ(offset("UTC", "2026-07-01T00:00:00Z"), hours(0));
  EXPECT_EQ(offset("Asia/Seoul", "2026-07-01T00:00:00Z"), hours(9));
  EXPECT_EQ(offset("America/New_York", "2026-03-08T06:59:59Z"), hours(-5));
  EXPECT_EQ(offset("America/New_York", "2026-03-08T07:00:00Z"), hours(-4));
  EXPECT_EQ(offset("America/New_York", "2026-11-01T05:59:59Z"), hours(-4));
  EXPECT_EQ(offset("America/New_York", "2026-11-01T06:00:00Z"), hours(-5));
}

TEST(TimeZone, the_rule_counts_in_years_that_are_not_listed) {
  EXPECT_EQ(offset("Europe/Berlin", "2060-07-01T00:00:00Z"), hours(2));
  EXPECT_EQ(offset("Europe/Berlin", "2060-12-31T23:30:00Z"), hours(1));
  EXPECT_EQ(offset("Australia/Sydney", "2060-01-01T00:00:00Z"), hours(11));
  EXPECT_EQ(offset("Australia/Sydney", "2060-07-01T00:00:00Z"), hours(10));
  EXPECT_EQ(offset("Asia/Seoul", "2060-07-01T00:00:00Z"), hours(9));
}

TEST(TimeZone, what_is_no_zone_is_nothing) {
  EXPECT_FALSE(TimeZone::find("Atlantis/Capital"));
  EXPECT_FALSE(TimeZone::find("../../../etc/passwd"));
  EXPECT_FALSE(TimeZone::find("/etc/passwd"));
  EXPECT_FALSE(TimeZone::find(""));
  EXPECT_FALSE(TimeZone::parse("TZif2"));
  EXPECT_FALSE(TimeZone::parse(std::string("TZif2") + std::string(100, '\xff')));
}

}  // namespace
}  // namespace sluice
