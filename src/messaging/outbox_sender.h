// Sends rows of the outbox to the log and records the outcome of each.
//
// Acknowledged rows are marked. A refused row is tried again later, with its aggregate, and finally moved to the dead
// rows. Rows whose outcome is unknown wait with their partition (away_partitions.h).
#pragma once

#include "messaging/away_partitions.h"
#include "messaging/outbox_cursors.h"
#include "messaging/outbox_relay_config.h"
#include "messaging/outbox_topics.h"

namespace sluice::messaging {

// State that reading and sending share.
struct OutboxProgress {
  OutboxCursors cursors;
  OutboxTopics topics;
  AwayPartitions away;
  unsigned failed_rounds = 0;  // one after the other
};

// Belongs to one executor; the given objects outlive it.
class OutboxSender {
 public:
  OutboxSender(OutboxStore& store, MessageLog& log, Clock& clock, const OutboxRelayConfig& config,
               OutboxProgress& progress)
      : store_(store), log_(log), clock_(clock), config_(config), progress_(progress) {}

  // Publishes the rows, in order per aggregate. May be called again while rows of other buckets are on their way.
  // Throws EngineUnavailable; some rows may have been published then.
  Task<> publish(std::vector<OutboxRow> rows);

  // Sends one row of a partition that did not answer. Returns if the partition answers now, or if the row is no longer
  // there to be sent. Throws EngineUnavailable.
  Task<> probe(AwayPartitions::Probe probe);

 private:
  Task<> publish_pieces(std::vector<OutboxRow> rows);
  Task<std::vector<Published>> send_piece(std::vector<OutboxRow>& piece);
  Task<std::vector<Published>> send(std::vector<OutboxRow>& rows, Duration patience);
  Task<> settle(std::vector<OutboxRow> rows, std::vector<Published> outcomes);
  Task<> refuse(OutboxRow row, std::string reason);

  OutboxStore& store_;
  MessageLog& log_;
  Clock& clock_;
  const OutboxRelayConfig& config_;
  OutboxProgress& progress_;
  // Goes to the log at once: less after each time that this was too much for it, or took it too long.
  static constexpr size_t largest_piece = max_message_bytes;
  static constexpr size_t smallest_piece = 16 << 10;
  size_t piece_bytes_ = largest_piece;
};

}  // namespace sluice::messaging
