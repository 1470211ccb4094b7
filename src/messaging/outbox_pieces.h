// Which rows of a batch go to the log in one call.
#pragma once

#include "messaging/outbox_store.h"

namespace sluice::messaging {

// Pieces to be published one after the other, each with `most_bytes` at most or a single row. Of one aggregate a piece
// has rows of one topic, or one row that is unreadable: a log holds back what follows a refused message in its topic,
// the rest is up to who publishes the next piece.
std::vector<std::vector<OutboxRow>> in_pieces(std::vector<OutboxRow> rows, size_t most_bytes);

}  // namespace sluice::messaging
