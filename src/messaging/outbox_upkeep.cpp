#include "messaging/outbox_upkeep.h"

#include "runtime/config_section.h"
#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice::messaging {
namespace {

constexpr Duration measure_every = 2s;
constexpr int least_pause = 20;  // times the time of one measurement, so slow ones are rare
constexpr Duration alarm_every = 1min;
constexpr Duration sweep_every = 1min;
constexpr size_t sweep_batch = 1000;

const metrics::Gauge lag_gauge{
    "outbox_events_lag",
    "Unpublished rows of an outbox in the buckets of this relay, up to 100000, without rows that wait "
    "behind a dead one. The total is the sum over all relays.",
    {"outbox"}};
const metrics::Gauge age_gauge{"outbox_oldest_seconds", "Age of the oldest unpublished row.", {"outbox"}};
const metrics::Gauge dead_gauge{
    "outbox_dead_rows",
    "Rows in the buckets of this relay that the log refused for good. Their aggregates wait for an operator.",
    {"outbox"}};

}  // namespace

void OutboxUpkeepConfig::describe(config::Section<OutboxUpkeepConfig>& section) {
  section
      .key("keep", &OutboxUpkeepConfig::keep, "Time published rows are kept; a log that lost its data gets them again.")
      .at_least(1min);
  section.key("alarm", &OutboxUpkeepConfig::alarm, "Number of unpublished rows above which a warning is logged.")
      .at_least(1);
}

void OutboxUpkeep::start(TaskScope& scope, std::function<std::vector<BucketScan>()> held) {
  held_ = std::move(held);
  scope.spawn("outbox lag", run_forever("outbox lag", clock_, random_, [this] { return measure_round(); }));
  scope.spawn("outbox sweep", run_forever("outbox sweep", clock_, random_, [this] { return sweep_round(); }));
}

Task<> OutboxUpkeep::measure_round() {
  const Instant asked = clock_.now();
  std::vector<BucketScan> scans = held_();
  const size_t buckets = scans.size();
  OutboxLag lag;
  if (buckets > 0) lag = co_await store_.lag(std::move(scans));
  show(lag, buckets);
  const auto took = std::chrono::floor<Duration>(clock_.now() - asked);
  co_await clock_.sleep_for(std::max(measure_every, least_pause * took));
}

void OutboxUpkeep::show(const OutboxLag& lag, size_t buckets) {
  const Duration age = lag.oldest ? std::max(Duration{0}, clock_.wall() - *lag.oldest) : Duration{0};
  lag_gauge.with({config_.outbox}).set(static_cast<double>(lag.unpublished));
  age_gauge.with({config_.outbox}).set(std::chrono::duration<double>(age).count());
  dead_gauge.with({config_.outbox}).set(static_cast<double>(lag.dead));
  // Aggregates are spread evenly, so that a share tells of the whole.
  const bool behind = lag.unpublished * outbox_buckets > config_.alarm * static_cast<int64_t>(buckets);
  if (behind && clock_.now() >= quiet_until_) {
    quiet_until_ = clock_.now() + alarm_every;
    log::warning("the outbox is behind", {{"outbox", config_.outbox},
                                          {"unpublished", lag.unpublished},
                                          {"buckets", buckets},
                                          {"oldest_us", age.count()}});
  }
}

Task<> OutboxUpkeep::sweep_round() {
  co_await clock_.sleep_for(sweep_every);
  std::optional<int64_t> next = 0;
  while (next && sweeps()) next = co_await store_.sweep(*next, sweep_batch, config_.keep);
}

bool OutboxUpkeep::sweeps() const {
  return std::ranges::any_of(held_(), [](const BucketScan& scan) { return scan.held.bucket == 0; });
}

}  // namespace sluice::messaging
