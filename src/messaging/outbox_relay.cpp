#include "messaging/outbox_relay.h"

#include "base/check.h"
#include "runtime/config_section.h"
#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice::messaging {
namespace {

constexpr Backoff away_backoff{.first = 100ms, .factor = 2, .max = 5s};
// Nothing needs it; it mends what somebody changed in the tables by hand.
constexpr Duration rewind_every = 10s;

const metrics::Counter published_total{"outbox_published_total", "Rows of the outbox that the log acknowledged."};
const metrics::Counter refused_total{"outbox_refused_total", "Times that the log refused a row of the outbox."};
const metrics::Counter away_total{"outbox_waits_total", "Times that a relay had to wait for the log or the database."};

}  // namespace

void OutboxRelayConfig::describe(config::Section<OutboxRelayConfig>& section) {
  section.key("batch", &OutboxRelayConfig::batch, "How many rows are published at once.").between(1, 10'000);
  section.key("poll", &OutboxRelayConfig::poll, "How often to look where nothing wakes the relay.").at_least(10ms);
  section.key("send_timeout", &OutboxRelayConfig::send_timeout, "How long the log may take for a batch.")
      .at_least(100ms);
  section.key("tries", &OutboxRelayConfig::tries, "How often a row that the log refuses is tried.").between(1, 100);
  section.key("retry_after", &OutboxRelayConfig::retry_after, "The pause between those tries.").at_least(10ms);
  section.key("lease", &OutboxRelayConfig::lease, "How long a silent relay keeps its buckets.").at_least(1s);
  section.include(&OutboxRelayConfig::upkeep);
}

OutboxRelay::OutboxRelay(OutboxStore& store, MessageLog& log, Bell& bell, Clock& clock, Random& random,
                         std::string owner, OutboxRelayConfig config, const Executor& executor)
    : store_(store),
      log_(log),
      bell_(bell),
      clock_(clock),
      random_(random),
      owner_(std::move(owner)),
      config_(config),
      topics_(store, log, clock, config.send_timeout),
      upkeep_(store, clock, random, config.upkeep),
      listener_(bell.listen(executor)),
      stop_(executor),
      publishing_(executor),
      keeping_(executor) {}

void OutboxRelay::start() {
  // Holding must not wait for a log that hangs.
  const Backoff soon{.first = 100ms, .factor = 2, .max = config_.lease / 4};
  keeping_.spawn("outbox leases", run_forever("outbox leases", clock_, random_, [this] { return hold_round(); }, soon));
  upkeep_.start(keeping_, [this] { return cursors_.holds(0); });
  publishing_.spawn("outbox relay", publish_loop());
}

Task<> OutboxRelay::stop() {
  stopping_ = true;
  stop_.notify_all();
  bell_.ring();
  co_await publishing_.join();
  co_await keeping_.close();
  try {
    co_await store_.release(owner_);
  } catch (const EngineUnavailable& error) {
    log::warning("buckets of the outbox could not be given back", {{"error", error.what()}});
  }
}

Task<> OutboxRelay::publish_loop() {
  unsigned failed = 0;
  while (!stopping_) {
    Duration delay{0};
    try {
      const bool more = co_await round();
      failed = 0;
      if (more) continue;
    } catch (const EngineUnavailable& error) {
      delay = away_backoff.delay(failed++, random_);
      away_total.add();
      log::warning("the outbox waits", {{"error", error.what()}, {"retry_in_us", delay.count()}});
      cursors_.rewind();
      topics_.doubt();
    }
    if (stopping_) co_return;
    const Instant now = clock_.now();
    if (failed > 0) {
      co_await stop_.wait_until(clock_, now + delay);
    } else {
      co_await listener_.wait_until(clock_, std::min(now + config_.poll, cursors_.next_release()));
    }
  }
}

// True if there is more to do at once.
Task<bool> OutboxRelay::round() {
  const Instant now = clock_.now();
  if (now >= held_until_) co_return false;
  const bool forgotten = co_await topics_.check();
  if (forgotten) co_return co_await begin_again();
  if (now >= rewind_due_) {
    cursors_.rewind();
    rewind_due_ = now + rewind_every;
  }
  cursors_.release(now);
  const std::vector<BucketScan> scans = cursors_.plan();
  if (scans.empty()) co_return false;
  OutboxBatch batch = co_await store_.unpublished(scans, config_.batch);
  if (!cursors_.advance(scans, batch, config_.batch, now)) co_return true;
  const bool more = batch.rows.size() >= config_.batch;
  std::erase_if(batch.rows, [this](const OutboxRow& row) { return cursors_.held_off(row.aggregate); });
  if (batch.rows.empty()) co_return false;
  const bool lost = co_await topics_.meet(batch.rows);
  if (lost) co_return co_await begin_again();
  co_await publish(std::move(batch.rows));
  co_return more;
}

// All fences have grown.
Task<bool> OutboxRelay::begin_again() {
  co_await hold();
  co_return true;
}

Task<> OutboxRelay::publish(std::vector<OutboxRow> rows) {
  std::vector<Message> messages;
  messages.reserve(rows.size());
  for (OutboxRow& row : rows) messages.push_back(std::move(row.message));
  const Deadline deadline = Deadline::after(clock_, config_.send_timeout);
  std::vector<Published> outcomes =
      co_await with_deadline(clock_, deadline, "message log", log_.publish(std::move(messages)));
  check_that(outcomes.size() == rows.size(), "{} outcomes for {} messages", outcomes.size(), rows.size());
  co_await settle(std::move(rows), std::move(outcomes));
}

Task<> OutboxRelay::settle(std::vector<OutboxRow> rows, std::vector<Published> outcomes) {
  std::vector<OutboxMark> acknowledged;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (std::holds_alternative<Position>(outcomes[i])) {
      acknowledged.push_back(rows[i].mark);
    } else {
      cursors_.hold_off(rows[i], clock_.now() + config_.retry_after);
    }
  }
  published_total.add(acknowledged.size());
  if (!acknowledged.empty()) co_await store_.mark_published(std::move(acknowledged));
  for (size_t i = 0; i < rows.size(); ++i) {
    auto* const rejected = std::get_if<Rejected>(&outcomes[i]);
    if (rejected) co_await refuse(rows[i], rejected->reason);
  }
}

Task<> OutboxRelay::refuse(OutboxRow row, std::string reason) {
  refused_total.add();
  const Refusal refusal = co_await store_.refuse(row.mark, reason, config_.tries);
  if (refusal != Refusal::dead) co_return;
  log::error("the log refuses a message; its aggregate waits until it is replayed or discarded",
             {{"row", row.mark.id}, {"aggregate", row.aggregate}, {"reason", reason}});
}

Task<> OutboxRelay::hold_round() {
  co_await hold();
  co_await clock_.sleep_for(config_.lease / 4);
}

Task<> OutboxRelay::hold() {
  const Instant asked = clock_.now();
  const std::vector<HeldBucket> held = co_await store_.hold(owner_, config_.lease);
  held_until_ = asked + config_.lease;
  if (cursors_.adopt(held)) bell_.ring();
}

}  // namespace sluice::messaging
