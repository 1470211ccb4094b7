#include "messaging/outbox_sender.h"

#include <set>

#include "base/check.h"
#include "messaging/outbox_pieces.h"
#include "runtime/deadline.h"
#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice::messaging {
namespace {

constexpr unsigned waits_for_all = 3;

const metrics::Counter published_total{"outbox_published_total", "Rows of the outbox acknowledged by the log."};
const metrics::Counter refused_total{"outbox_refused_total",
                                     "Rows of the outbox refused by the log, counting every try."};

}  // namespace

Task<> OutboxSender::publish(std::vector<OutboxRow> rows) {
  try {
    co_await publish_pieces(std::move(rows));
    piece_bytes_ = std::min(piece_bytes_ + piece_bytes_ / 4, largest_piece);
  } catch (const EngineUnavailable& error) {
    const bool too_much = dynamic_cast<const Overloaded*>(&error) || dynamic_cast<const DeadlineExceeded*>(&error);
    if (too_much) piece_bytes_ = std::max(piece_bytes_ / 2, smallest_piece);
    throw;
  }
}

Task<> OutboxSender::probe(AwayPartitions::Probe probe) {
  const OutboxMark& row = probe.row;
  const std::vector<BucketScan> scans{{row.held, row.id - 1}};
  OutboxBatch found = co_await store_.unpublished(scans, {1, 1}, {});
  if (found.rows.empty() || found.rows.front().mark.id != row.id) co_return;
  std::vector<Published> outcomes = co_await send(found.rows, probe.patience);
  co_await settle(std::move(found.rows), std::move(outcomes));
}

// One piece after the other: an aggregate that one has to leave behind is left out of the next.
Task<> OutboxSender::publish_pieces(std::vector<OutboxRow> rows) {
  std::set<std::string> left_behind;
  std::vector<std::vector<OutboxRow>> pieces = in_pieces(std::move(rows), piece_bytes_);
  for (std::vector<OutboxRow>& piece : pieces) {
    std::erase_if(piece, [&](const OutboxRow& row) {
      if (progress_.away.passes_over(row)) left_behind.insert(row.aggregate);
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

// Waits for an unavailable log, but not without limit: perhaps only some partitions are away, and the first rows belong
// to them.
Task<std::vector<Published>> OutboxSender::send_piece(std::vector<OutboxRow>& piece) {
  try {
    co_return co_await send(piece, config_.send_timeout);
  } catch (const Overloaded&) {
    throw;
  } catch (const EngineUnavailable& error) {
    if (progress_.failed_rounds < waits_for_all) throw;
    co_return std::vector<Published>(piece.size(), Unknown{error.what()});
  }
}

// Moves the large members out of the rows.
Task<std::vector<Published>> OutboxSender::send(std::vector<OutboxRow>& rows, Duration patience) {
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

Task<> OutboxSender::settle(std::vector<OutboxRow> rows, std::vector<Published> outcomes) {
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
      co_await progress_.away.add(row.mark, row.aggregate, row.message.topic, row.message.key);
      progress_.topics.doubt();
      continue;
    }
    if (!progress_.away.passes_over(row)) progress_.cursors.hold_off(row, clock_.now() + config_.retry_after);
    auto* const rejected = std::get_if<Rejected>(&outcomes[i]);
    if (rejected) co_await refuse(row, rejected->reason);
  }
  if (!nothing_known(outcomes)) progress_.failed_rounds = 0;
}

Task<> OutboxSender::refuse(OutboxRow row, std::string reason) {
  refused_total.add();
  const Refusal refusal = co_await store_.refuse(row.mark, reason, config_.tries);
  if (refusal != Refusal::dead) co_return;
  log::error("the log refuses a message; its aggregate waits until the message is replayed or purged",
             {{"row", row.mark.id}, {"aggregate", row.aggregate}, {"reason", reason}});
}

}  // namespace sluice::messaging
