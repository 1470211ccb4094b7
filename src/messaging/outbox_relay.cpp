#include "messaging/outbox_relay.h"

#include "base/check.h"
#include "messaging/outbox_pieces.h"
#include "runtime/config_section.h"
#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice::messaging {
namespace {

constexpr Backoff away_backoff{.first = 100ms, .factor = 2, .max = 5s};
constexpr unsigned waits_for_all = 3;
// Between reads of nothing but rows that are passed over, which stay where they are.
constexpr Duration reading_on = 10ms;
// Nothing needs it; it mends what somebody changed in the tables by hand. Rare, since it walks over all that was
// published while a transaction is held open somewhere.
constexpr Duration rewind_every = 5min;

const metrics::Counter published_total{"outbox_published_total", "Rows of the outbox acknowledged by the log."};
const metrics::Counter refused_total{"outbox_refused_total",
                                     "Rows of the outbox refused by the log, counting every try."};
const metrics::Counter away_total{"outbox_waits_total", "Times a relay had to wait for the log or the database."};

}  // namespace

void OutboxRelayConfig::describe(config::Section<OutboxRelayConfig>& section) {
  section.key("batch", &OutboxRelayConfig::batch, "Rows published in one batch.").between(1, 10'000);
  section.key("batches", &OutboxRelayConfig::batches, "Batches in flight at once.").between(1, 64);
  section.key("poll", &OutboxRelayConfig::poll, "Interval between checks when nothing wakes the relay.").at_least(10ms);
  section
      .key("send_timeout", &OutboxRelayConfig::send_timeout,

           "Time limit for publishing a batch; longer than kafka.send_timeout, so that the partition that "
           "failed is known.")
      .at_least(100ms);
  section.key("tries", &OutboxRelayConfig::tries, "Tries of a row that the log refuses.").between(1, 100);
  section.key("retry_after", &OutboxRelayConfig::retry_after, "Delay between these tries.").at_least(10ms);
  section.key("lease", &OutboxRelayConfig::lease, "Time a silent relay keeps its buckets.").at_least(1s);
  section
      .key("rerun_margin", &OutboxRelayConfig::rerun_margin,

           "After a restart of the log, rows published since this time before it was last seen are published "
           "again. Must cover the time between snapshots or fsyncs of the log (Redis: save, appendfsync); has "
           "no effect beyond keep.")
      .at_least(1s);
  section.include(&OutboxRelayConfig::upkeep);
}

OutboxRelay::OutboxRelay(OutboxRelayParts parts, OutboxRelayConfig config, std::string owner, const Executor& executor)
    : store_(parts.store),
      log_(parts.log),
      clock_(parts.clock),
      random_(parts.random),
      owner_(std::move(owner)),
      config_(config),
      topics_(store_, log_, clock_, {config.send_timeout, config.rerun_margin}),
      away_(log_, clock_, random_, config.send_timeout),
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

// What was passed over is behind too.
std::vector<BucketScan> OutboxRelay::measured() const {
  std::vector<BucketScan> scans = cursors_.plan();
  if (away_.empty()) return scans;
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
      co_await listener_.wait_until(clock_, std::min({poll, cursors_.next_release(), away_.next_due()}));
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
  cursors_.release(clock_.now());
  if (std::optional<AwayPartitions::Probe> due = away_.due()) {
    batches_.spawn("outbox probe", try_away(std::move(*due)));
    co_return true;
  }
  if (clock_.now() >= held_until_) co_return false;
  if (topics_.due()) {
    const bool lost = co_await look_for_loss();
    if (lost) co_return true;
  }
  if (clock_.now() >= rewind_due_) {
    cursors_.rewind();
    rewind_due_ = clock_.now() + rewind_every;
  }
  co_return co_await read();
}

Task<bool> OutboxRelay::look_for_loss() {
  co_await batches_.join();
  if (!trouble_.empty()) co_return true;
  const bool lost = co_await topics_.check();
  if (lost) co_await hold();  // all fences have grown
  co_return lost;
}

Task<bool> OutboxRelay::read() {
  const std::vector<BucketScan> scans = cursors_.plan(in_work_);
  if (scans.empty() || away_.full()) co_return false;
  const BatchLimits most = limits(scans.size());
  const uint64_t era = away_.era();
  OutboxBatch batch = co_await store_.unpublished(scans, most, cursors_.held_off());
  if (away_.era() != era || !cursors_.advance(scans, batch, most, clock_.now())) co_return true;
  if (batch.rows.empty()) {
    if (in_work_.empty()) failed_ = 0;
    co_return false;
  }
  std::erase_if(batch.rows, [this](const OutboxRow& row) { return away_.passes_over(row); });
  if (batch.rows.empty()) {
    co_await stop_.wait_until(clock_, clock_.now() + reading_on);
    co_return true;
  }
  if (!topics_.knows(batch.rows)) {
    co_await batches_.join();
    const bool lost = co_await topics_.meet(batch.rows);
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
  const Duration delay = away_backoff.delay(failed_++, random_);
  away_total.add();
  log::warning("the outbox waits", {{"error", trouble_}, {"retry_in_us", delay.count()}});
  trouble_.clear();
  cursors_.rewind();
  topics_.doubt();
  if (!stopping_) co_await stop_.wait_until(clock_, clock_.now() + delay);
}

Task<> OutboxRelay::work(std::vector<OutboxRow> rows) {
  std::set<int32_t> buckets;
  for (const OutboxRow& row : rows) buckets.insert(row.mark.held.bucket);
  try {
    co_await publish(std::move(rows));
    piece_bytes_ = std::min(piece_bytes_ + piece_bytes_ / 4, largest_piece);
  } catch (const EngineUnavailable& error) {
    trouble_ = error.what();
    const bool too_much = dynamic_cast<const Overloaded*>(&error) || dynamic_cast<const DeadlineExceeded*>(&error);
    if (too_much) piece_bytes_ = std::max(piece_bytes_ / 2, smallest_piece);
  }
  for (const int32_t bucket : buckets) in_work_.erase(bucket);
  finished_.notify_all();
  listener_.wake();  // these buckets were left out meanwhile
}

// One piece after the other: an aggregate that one has to leave behind is left out of the next.
Task<> OutboxRelay::publish(std::vector<OutboxRow> rows) {
  std::set<std::string> left_behind;
  std::vector<std::vector<OutboxRow>> pieces = in_pieces(std::move(rows), piece_bytes_);
  for (std::vector<OutboxRow>& piece : pieces) {
    std::erase_if(piece, [&](const OutboxRow& row) {
      if (away_.passes_over(row)) left_behind.insert(row.aggregate);
      return left_behind.contains(row.aggregate);
    });
    if (piece.empty()) continue;
    std::vector<Published> outcomes = co_await send_piece(piece);
    for (size_t i = 0; i < piece.size(); ++i) {
      if (!std::holds_alternative<Position>(outcomes[i])) left_behind.insert(piece[i].aggregate);
    }
    co_await settle(std::move(piece), std::move(outcomes));
  }
}

// A log that is away is waited for as a whole, but not for ever: perhaps it is only a part of it, and all that is read
// first belongs there.
Task<std::vector<Published>> OutboxRelay::send_piece(std::vector<OutboxRow>& piece) {
  try {
    co_return co_await send(piece, config_.send_timeout);
  } catch (const Overloaded&) {
    throw;
  } catch (const EngineUnavailable& error) {
    if (failed_ < waits_for_all) throw;
    co_return std::vector<Published>(piece.size(), Unknown{error.what()});
  }
}

Task<> OutboxRelay::try_away(AwayPartitions::Probe probe) {
  bool answers = false;
  try {
    co_await this->probe(probe);
    answers = true;
  } catch (const EngineUnavailable&) {
  }
  if (answers) {
    away_.answered(probe.partition);
    cursors_.rewind();
  } else {
    away_.silent(probe.partition);
  }
  finished_.notify_all();
  listener_.wake();
}

// Returns where the partition answers, and where this can't be told any more.
Task<> OutboxRelay::probe(AwayPartitions::Probe probe) {
  const OutboxMark& row = probe.row;
  const std::vector<BucketScan> scans{{row.held, row.id - 1}};
  OutboxBatch found = co_await store_.unpublished(scans, {1, 1}, {});
  if (found.rows.empty() || found.rows.front().mark.id != row.id) co_return;
  std::vector<Published> outcomes = co_await send(found.rows, probe.patience);
  co_await settle(std::move(found.rows), std::move(outcomes));
}

// Takes what is large out of the rows.
Task<std::vector<Published>> OutboxRelay::send(std::vector<OutboxRow>& rows, Duration patience) {
  std::vector<Message> messages;
  messages.reserve(rows.size());
  for (OutboxRow& row : rows) {
    if (!row.unreadable.empty()) continue;
    Message& message = row.message;
    messages.push_back({message.topic, message.key, std::move(message.payload), std::move(message.headers)});
  }
  const size_t sent = messages.size();
  std::vector<Published> answers;
  if (sent > 0) {
    const Deadline deadline = Deadline::after(clock_, patience);
    answers = co_await with_deadline(clock_, deadline, "message log", log_.publish(std::move(messages)));
  }
  check_that(answers.size() == sent, "{} outcomes for {} messages", answers.size(), sent);
  std::vector<Published> outcomes;
  auto answer = answers.begin();
  for (const OutboxRow& row : rows) {
    outcomes.push_back(row.unreadable.empty() ? std::move(*answer++) : Published(Rejected{row.unreadable}));
  }
  co_return outcomes;
}

Task<> OutboxRelay::settle(std::vector<OutboxRow> rows, std::vector<Published> outcomes) {
  std::vector<OutboxMark> acknowledged;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (std::holds_alternative<Position>(outcomes[i])) acknowledged.push_back(rows[i].mark);
  }
  published_total.add(acknowledged.size());
  if (!acknowledged.empty()) co_await store_.mark_published(std::move(acknowledged));
  for (size_t i = 0; i < rows.size(); ++i) {
    const OutboxRow& row = rows[i];
    if (std::holds_alternative<Position>(outcomes[i])) continue;
    if (std::holds_alternative<Unknown>(outcomes[i])) {
      co_await away_.add(row.mark, row.aggregate, row.message.topic, row.message.key);
      topics_.doubt();
      continue;
    }
    if (!away_.passes_over(row)) cursors_.hold_off(row, clock_.now() + config_.retry_after);
    auto* const rejected = std::get_if<Rejected>(&outcomes[i]);
    if (rejected) co_await refuse(row, rejected->reason);
  }
  if (!nothing_known(outcomes)) failed_ = 0;
}

Task<> OutboxRelay::refuse(OutboxRow row, std::string reason) {
  refused_total.add();
  const Refusal refusal = co_await store_.refuse(row.mark, reason, config_.tries);
  if (refusal != Refusal::dead) co_return;
  log::error("the log refuses a message; its aggregate waits until the message is replayed or purged",
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
  if (cursors_.adopt(held)) listener_.wake();
}

}  // namespace sluice::messaging
