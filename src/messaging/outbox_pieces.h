// Which rows of a batch go to the log in one call.
#pragma once

#include "messaging/outbox_store.h"

namespace sluice::messaging {

// Pieces to be published one after the other, each with `most_bytes` at most or a single row. For one aggregate a piece
// has rows of one topic, or one row that is unreadable: a log holds back messages that follow a refused one in its
// topic; for other topics the publisher of the next piece must do so.
std::vector<std::vector<OutboxRow>> in_pieces(std::vector<OutboxRow> rows, size_t most_bytes);

}  // namespace sluice::messaging
