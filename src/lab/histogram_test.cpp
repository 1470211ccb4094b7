#include "lab/histogram.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace sluice::lab {
namespace {

TEST(Histogram, knows_nothing_at_first) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.percentile(0.99), 0ns);
  EXPECT_EQ(histogram.mean(), 0ns);
}

TEST(Histogram, tells_every_value_at_most_a_thousandth_too_high) {
  SeededRandom random(7);
  for (int i = 0; i < 500; ++i) {
    const auto value = std::chrono::nanoseconds{random.next() >> (22 + random.below(42))};
    Histogram histogram;
    histogram.record(value);
    histogram.record(24h);  // so that the maximum does not help
    const auto told = histogram.percentile(0.5);
    EXPECT_GE(told, value);
    EXPECT_LE(static_cast<double>(told.count()), static_cast<double>(value.count()) * 1.001 + 0.5) << value.count();
  }
}

TEST(Histogram, finds_percentiles_of_a_known_set) {
  Histogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.record(std::chrono::milliseconds{i});
  const auto near = [](std::chrono::nanoseconds a, std::chrono::nanoseconds b) { return a >= b && a <= b + b / 1000; };
  EXPECT_TRUE(near(histogram.percentile(0.5), 500ms));
  EXPECT_TRUE(near(histogram.percentile(0.9), 900ms));
  EXPECT_TRUE(near(histogram.percentile(0.999), 999ms));
  EXPECT_EQ(histogram.percentile(1.0), 1000ms);
  EXPECT_EQ(histogram.max(), 1000ms);
  EXPECT_EQ(histogram.mean(), 500'500us);
}

TEST(Histogram, merging_is_recording_everything_in_one) {
  Histogram all;
  Histogram parts[2];
  SeededRandom random(3);
  for (int i = 0; i < 5000; ++i) {
    const std::chrono::nanoseconds value(random.below(1'000'000'000));
    all.record(value);
    parts[i % 2].record(value);
  }
  parts[0].merge(parts[1]);
  for (const double share : {0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    EXPECT_EQ(parts[0].percentile(share), all.percentile(share));
  }
  EXPECT_EQ(parts[0].count(), all.count());
  EXPECT_EQ(parts[0].max(), all.max());
  EXPECT_EQ(parts[0].mean(), all.mean());
}

TEST(Histogram, keeps_what_is_out_of_range_at_its_ends) {
  Histogram histogram;
  histogram.record(-5ns);
  histogram.record(100h);
  EXPECT_EQ(histogram.percentile(0.5), 0ns);
  EXPECT_GT(histogram.max(), 1h);
  EXPECT_EQ(histogram.count(), 2U);
}

}  // namespace
}  // namespace sluice::lab
