#include "messaging/outbox_relay.h"

#include "runtime/log.h"
#include "runtime/metrics.h"
#include "runtime/retry.h"

namespace sluice::messaging {
namespace {

constexpr Backoff away_backoff{.first = 100ms, .factor = 2, .max = 5s};
// Pause between reads that found only rows to skip.
constexpr Duration reading_on = 10ms;
// Only repairs manual changes of the tables. Rare, since during a long transaction it walks over all rows that were
// published meanwhile.
constexpr Duration rewind_every = 5min;

const metrics::Counter away_total{"outbox_waits_total", "Times a relay had to wait for the log or the database."};

}  // namespace

OutboxRelay::OutboxRelay(OutboxRelayParts parts, OutboxRelayConfig config, std::string owner, const Executor& executor)
    : store_(parts.store),
      clock_(parts.clock),
      random_(parts.random),
      owner_(std::move(owner)),
      config_(config),
      progress_{.cursors = {},
                .topics = {store_, parts.log, clock_, {config.send_timeout, config.rerun_margin}},
                .away = {parts.log, clock_, random_, config.send_timeout}},
      sender_(store_, parts.log, clock_, config_, progress_),
      upkeep_(store_, clock_, random_, config.upkeep),
      listener_(parts.bell.listen(executor)),
      stop_(executor),
      finished_(executor),
      batches_(executor),
      publishing_(executor),
      keeping_(executor) {}

void OutboxRelay::start() {
  // Holding must not wait for a log that hangs.
  const Backoff soon{.first = 100ms, .factor = 2, .max = config_.lease / 4};
  keeping_.spawn("outbox leases", run_forever("outbox leases", clock_, random_, [this] { return hold_round(); }, soon));
  upkeep_.start(keeping_, [this] { return measured(); });
  publishing_.spawn("outbox relay", publish_loop());
}

// Rows that were skipped also count as unpublished.
std::vector<BucketScan> OutboxRelay::measured() const {
  std::vector<BucketScan> scans = progress_.cursors.plan();
  if (progress_.away.empty()) return scans;
  for (BucketScan& scan : scans) scan.after = 0;
  return scans;
}

Task<> OutboxRelay::stop() {
  stopping_ = true;
  stop_.notify_all();
  listener_.wake();
  co_await publishing_.join();
  co_await keeping_.close();
  try {
    co_await store_.release(owner_);
  } catch (const EngineUnavailable& error) {
    log::warning("releasing buckets of the outbox failed", {{"error", error.what()}});
  }
}

Task<> OutboxRelay::publish_loop() {
  while (!stopping_) {
    bool more = false;
    try {
      more = co_await round();
    } catch (const EngineUnavailable& error) {
      trouble_ = error.what();
    }
    if (!trouble_.empty()) {
      co_await back_off();
    } else if (!more && !stopping_) {
      const Instant poll = clock_.now() + config_.poll;
      co_await listener_.wait_until(clock_,
                                    std::min({poll, progress_.cursors.next_release(), progress_.away.next_due()}));
    }
  }
  co_await batches_.join();
}

// True if there is more to do at once.
Task<bool> OutboxRelay::round() {
  if (batches_.running() >= config_.batches) {
    co_await finished_.wait_until(clock_, clock_.now() + config_.poll);
    co_return true;
  }
  progress_.cursors.release(clock_.now());
  if (std::optional<AwayPartitions::Probe> due = progress_.away.due()) {
    batches_.spawn("outbox probe", try_away(std::move(*due)));
    co_return true;
  }
  if (clock_.now() >= held_until_) co_return false;
  if (progress_.topics.due()) {
    const bool lost = co_await look_for_loss();
    if (lost) co_return true;
  }
  if (clock_.now() >= rewind_due_) {
    progress_.cursors.rewind();
    rewind_due_ = clock_.now() + rewind_every;
  }
  co_return co_await read();
}

Task<bool> OutboxRelay::look_for_loss() {
  co_await batches_.join();
  if (!trouble_.empty()) co_return true;
  const bool lost = co_await progress_.topics.check();
  if (lost) co_await hold();  // all fences have grown
  co_return lost;
}

Task<bool> OutboxRelay::read() {
  const std::vector<BucketScan> scans = progress_.cursors.plan(in_work_);
  if (scans.empty() || progress_.away.full()) co_return false;
  const BatchLimits most = limits(scans.size());
  const uint64_t era = progress_.away.era();
  OutboxBatch batch = co_await store_.unpublished(scans, most, progress_.cursors.held_off());
  if (progress_.away.era() != era || !progress_.cursors.advance(scans, batch, most, clock_.now())) co_return true;
  if (batch.rows.empty()) {
    if (in_work_.empty()) progress_.failed_rounds = 0;
    co_return false;
  }
  std::erase_if(batch.rows, [this](const OutboxRow& row) { return progress_.away.passes_over(row); });
  if (batch.rows.empty()) {
    co_await stop_.wait_until(clock_, clock_.now() + reading_on);
    co_return true;
  }
  if (!progress_.topics.knows(batch.rows)) {
    co_await batches_.join();
    const bool lost = co_await progress_.topics.meet(batch.rows);
    if (lost) co_await hold();
    if (lost) co_return true;
  }
  for (const OutboxRow& row : batch.rows) in_work_.insert(row.mark.held.bucket);
  batches_.spawn("outbox batch", work(std::move(batch.rows)));
  co_return true;
}

// Few of a bucket, where there are many: messages of one key go to the log one after the other.
BatchLimits OutboxRelay::limits(size_t buckets) const {
  return {config_.batch, std::clamp<size_t>(2 * config_.batch / buckets, 8, std::max<size_t>(8, config_.batch))};
}

Task<> OutboxRelay::back_off() {
  co_await batches_.join();
  const Duration delay = away_backoff.delay(progress_.failed_rounds++, random_);
  away_total.add();
  log::warning("the outbox waits", {{"error", trouble_}, {"retry_in_us", delay.count()}});
  trouble_.clear();
  progress_.cursors.rewind();
  progress_.topics.doubt();
  if (!stopping_) co_await stop_.wait_until(clock_, clock_.now() + delay);
}

Task<> OutboxRelay::work(std::vector<OutboxRow> rows) {
  std::set<int32_t> buckets;
  for (const OutboxRow& row : rows) buckets.insert(row.mark.held.bucket);
  try {
    co_await sender_.publish(std::move(rows));
  } catch (const EngineUnavailable& error) {
    trouble_ = error.what();
  }
  for (const int32_t bucket : buckets) in_work_.erase(bucket);
  finished_.notify_all();
  listener_.wake();  // these buckets were left out meanwhile
}

Task<> OutboxRelay::try_away(AwayPartitions::Probe probe) {
  bool answers = false;
  try {
    co_await sender_.probe(probe);
    answers = true;
  } catch (const EngineUnavailable&) {
  }
  if (answers) {
    progress_.away.answered(probe.partition);
    progress_.cursors.rewind();
  } else {
    progress_.away.silent(probe.partition);
  }
  finished_.notify_all();
  listener_.wake();
}

Task<> OutboxRelay::hold_round() {
  co_await hold();
  co_await clock_.sleep_for(config_.lease / 4);
}

Task<> OutboxRelay::hold() {
  const Instant asked = clock_.now();
  const std::vector<HeldBucket> held = co_await store_.hold(owner_, config_.lease);
  held_until_ = asked + config_.lease;
  if (progress_.cursors.adopt(held)) listener_.wake();
}

}  // namespace sluice::messaging
