#include "adapters/sql/jobs/stats_cache.h"

#include "runtime/errors.h"

namespace sluice::sql {

StatsCache::Turn StatsCache::begin(Instant now) {
  const std::lock_guard lock(mutex_);
  const bool pausing = pause_until_ && now < *pause_until_;
  if (stats_ && (counting_ || pausing)) return {.stats = stats_};
  if (counting_) return {.counting = counting_};
  if (pausing) throw Overloaded("statistics of jobs", std::chrono::ceil<std::chrono::seconds>(*pause_until_ - now));
  counting_ = std::make_shared<coordination::Crowd>();
  return {};
}

void StatsCache::ended(const jobs::JobStats& stats, Instant start, Instant now) {
  const std::lock_guard lock(mutex_);
  stats_ = stats;
  pause(start, now);
}

void StatsCache::failed(Instant start, Instant now) {
  const std::lock_guard lock(mutex_);
  pause(start, now);
}

void StatsCache::pause(Instant start, Instant now) {
  pause_until_ = now + (now - start) * 20;
  counting_->end();
  counting_.reset();
}

}  // namespace sluice::sql
