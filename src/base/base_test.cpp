#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/id.h"
#include "base/money.h"
#include "base/result.h"
#include "base/size.h"
#include "base/time.h"

namespace sluice {
namespace {

enum class Refusal { full };
Result<int, Refusal> refuse(bool yes) {
  if (yes) return Refusal::full;
  return 7;
}

TEST(Result, converts_from_value_and_from_error) {
  EXPECT_EQ(refuse(false).value(), 7);
  EXPECT_EQ(refuse(true).error(), Refusal::full);
}

TEST(Time, is_written_in_utc_with_milliseconds) {
  const Time time = Time{std::chrono::sys_days{std::chrono::May / 1 / 2026}} + 11h + 123456us;
  EXPECT_EQ(format_time(time), "2026-05-01T11:00:00.123Z");
  EXPECT_EQ(format_time(Time{Duration{-1}}), "1969-12-31T23:59:59.999Z");
}

TEST(Time, is_read_with_fractions_and_offsets) {
  EXPECT_EQ(parse_time("2026-05-01T11:00:00.123456Z"),
            Time{std::chrono::sys_days{std::chrono::May / 1 / 2026}} + 11h + 123456us);
  EXPECT_EQ(parse_time("2026-05-01T20:00:00+09:00"), parse_time("2026-05-01T11:00:00Z"));
}

TEST(Time, refuses_what_is_no_time) {
  for (const std::string_view bad : {"", "2026", "2026-02-30T00:00:00Z", "2026-05-01T24:00:00Z", "2026-05-01T11:00:00",
                                     "2026-05-01T11:00:00.Z", "2026-05-01T11:00:00Zx", "2026-05-01T11:00:60Z"}) {
    EXPECT_FALSE(parse_time(bad)) << bad;
  }
}

TEST(Duration, round_trips_with_its_unit) {
  for (const std::string_view text : {"250ms", "10s", "5m", "2h", "30d", "7us"}) {
    ASSERT_TRUE(parse_duration(text)) << text;
    EXPECT_EQ(format_duration(*parse_duration(text)), text);
  }
  for (const std::string_view bad : {"", "10", "s", "-1s", "1.5s", "10 s", "99999999999999d"}) {
    EXPECT_FALSE(parse_duration(bad)) << bad;
  }
}

TEST(Size, round_trips_with_its_unit) {
  for (const std::string_view text : {"0B", "512B", "16KiB", "64MiB", "2GiB", "1025B", "8589934591GiB"}) {
    ASSERT_TRUE(parse_size(text)) << text;
    EXPECT_EQ(format_size(*parse_size(text)), text);
  }
  EXPECT_EQ(format_size(kib(2048)), "2MiB");
  for (const std::string_view bad : {"", "10", "KiB", "-1B", "1.5KiB", "10 B", "1KB", "8589934592GiB"}) {
    EXPECT_FALSE(parse_size(bad)) << bad;
  }
}

TEST(Id, round_trips_and_sorts_by_age) {
  SeededRandom random(1);
  const Time early{1700000000s};
  const auto a = Uuid::v7(early, random);
  const auto b = Uuid::v7(early + 1ms, random);
  EXPECT_LT(a, b);
  EXPECT_EQ(Uuid::parse(a.text()), a);
  EXPECT_EQ(a.text()[14], '7');
}

TEST(Id, refuses_other_spellings) {
  for (const std::string_view bad : {"", "018f4e1c6d2a7c3e9f100242ac120002", "018f4e1c-6d2a-7c3e-9f10-0242ac12000g",
                                     "018f4e1c-6d2a-7c3e-9f10-0242ac1200022", "{18f4e1c-6d2a-7c3e-9f10-0242ac120002"}) {
    EXPECT_FALSE(Uuid::parse(bad)) << bad;
  }
}

TEST(Encoding, round_trips_bytes) {
  SeededRandom random(2);
  for (size_t length = 0; length < 40; ++length) {
    Bytes bytes(length);
    random.fill(bytes);
    EXPECT_EQ(from_hex(to_hex(bytes)), bytes);
    EXPECT_EQ(from_base64url(to_base64url(bytes)), bytes);
  }
  EXPECT_FALSE(from_base64url("a"));
  EXPECT_FALSE(from_base64url("ab="));
  EXPECT_FALSE(from_base64url("ab/_"));
  EXPECT_FALSE(from_base64url("_x"));  // left-over bits
  EXPECT_FALSE(from_hex("abc"));
}

TEST(Encoding, knows_utf8) {
  EXPECT_TRUE(is_utf8("대기열"));
  EXPECT_FALSE(is_utf8("\xff\xfe"));
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));
}

TEST(Money, adds_only_what_fits) {
  EXPECT_EQ(add({1000, {}}, {500, {}}), (Money{1500, {}}));
  EXPECT_FALSE(add({INT64_MAX, {}}, {1, {}}));
  EXPECT_FALSE(add({1, {}}, {1, *Currency::parse("USD")}));
  EXPECT_EQ(times({110'000, {}}, 4)->amount, 440'000);
  EXPECT_FALSE(Currency::parse("won"));
}

}  // namespace
}  // namespace sluice
