#include "messaging/outbox_upkeep.h"

#include "runtime/config_section.h"
#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice::messaging {
namespace {

constexpr Duration measure_every = 2s;
constexpr Duration alarm_every = 1min;
constexpr Duration sweep_every = 1min;
constexpr size_t sweep_batch = 1000;

const metrics::Gauge lag_gauge{
    "outbox_events_lag",
    "Rows of an outbox that are not published yet, up to 100000; 0 where another relay measures.",
    {"outbox"}};
const metrics::Gauge age_gauge{"outbox_oldest_seconds", "Age of the oldest row that is not published yet.", {"outbox"}};
const metrics::Gauge dead_gauge{
    "outbox_dead_rows", "Rows that the log refused for good; their aggregates wait for an operator.", {"outbox"}};

}  // namespace

void OutboxUpkeepConfig::describe(config::Section<OutboxUpkeepConfig>& section) {
  section
      .key("keep", &OutboxUpkeepConfig::keep,
           "How long published rows stay: a log that lost its memory gets these again.")
      .at_least(1min);
  section.key("alarm", &OutboxUpkeepConfig::alarm, "How many unpublished rows are worth a warning.").at_least(1);
}

void OutboxUpkeep::start(TaskScope& scope, std::function<bool()> ours) {
  ours_ = std::move(ours);
  scope.spawn("outbox lag", run_forever("outbox lag", clock_, random_, [this] { return measure_round(); }));
  scope.spawn("outbox sweep", run_forever("outbox sweep", clock_, random_, [this] { return sweep_round(); }));
}

// Who has not got the turn shows nothing, so that the largest value of all relays is the true one.
Task<> OutboxUpkeep::measure_round() {
  OutboxLag lag;
  if (ours_()) lag = co_await store_.lag();
  show(lag);
  co_await clock_.sleep_for(measure_every);
}

void OutboxUpkeep::show(const OutboxLag& lag) {
  const Duration age = lag.oldest ? std::max(Duration{0}, clock_.wall() - *lag.oldest) : Duration{0};
  lag_gauge.with({config_.outbox}).set(static_cast<double>(lag.unpublished));
  age_gauge.with({config_.outbox}).set(std::chrono::duration<double>(age).count());
  dead_gauge.with({config_.outbox}).set(static_cast<double>(lag.dead));
  if (lag.unpublished > config_.alarm && clock_.now() >= quiet_until_) {
    quiet_until_ = clock_.now() + alarm_every;
    log::warning("the outbox is behind",
                 {{"outbox", config_.outbox}, {"unpublished", lag.unpublished}, {"oldest_us", age.count()}});
  }
}

Task<> OutboxUpkeep::sweep_round() {
  co_await clock_.sleep_for(sweep_every);
  std::optional<int64_t> next = 0;
  while (next && ours_()) next = co_await store_.sweep(*next, sweep_batch, config_.keep);
}

}  // namespace sluice::messaging
