#include "lab/histogram.h"

#include <bit>
#include <cmath>

namespace sluice::lab {
namespace {

constexpr uint64_t per_doubling = 1024;
constexpr int exact_bits = 11;  // values below 2^11 have a bucket each
constexpr int range_bits = 42;
constexpr size_t bucket_count = (range_bits - exact_bits) * per_doubling + 2 * per_doubling;
constexpr int64_t largest = (int64_t{1} << range_bits) - 1;

size_t bucket_of(uint64_t value) {
  const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - exact_bits);
  return static_cast<size_t>(shift) * per_doubling + (value >> shift);
}

int64_t highest_in(size_t bucket) {
  if (bucket < 2 * per_doubling) return static_cast<int64_t>(bucket);
  const size_t shift = bucket / per_doubling - 1;
  const size_t within = bucket - shift * per_doubling;
  return static_cast<int64_t>(((within + 1) << shift) - 1);
}

}  // namespace

Histogram::Histogram() : buckets_(bucket_count) {}

void Histogram::record(Nanoseconds value) {
  const int64_t nanoseconds = std::clamp<int64_t>(value.count(), 0, largest);
  ++buckets_[bucket_of(static_cast<uint64_t>(nanoseconds))];
  ++count_;
  max_ = std::max(max_, nanoseconds);
  sum_ += static_cast<double>(nanoseconds);
}

void Histogram::merge(const Histogram& other) {
  for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

Histogram::Nanoseconds Histogram::percentile(double share) const {
  if (count_ == 0) return Nanoseconds{0};
  const double exact = std::clamp(share, 0.0, 1.0) * static_cast<double>(count_);
  // A little less, because 0.999 * 1000 is a little more than 999.
  const auto wanted = std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(exact - 1e-6)));
  uint64_t seen = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= wanted) return Nanoseconds{std::min(highest_in(i), max_)};
  }
  return max();
}

Histogram::Nanoseconds Histogram::mean() const {
  return Nanoseconds{count_ == 0 ? 0 : std::llround(sum_ / static_cast<double>(count_))};
}

}  // namespace sluice::lab
