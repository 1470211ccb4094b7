#include "messaging/outbox_pieces.h"

#include <unordered_map>

namespace sluice::messaging {
namespace {

using Pieces = std::vector<std::vector<OutboxRow>>;

// The n-th part has the rows of each aggregate behind its n-th change of topic.
Pieces by_change_of_topic(std::vector<OutboxRow> rows) {
  struct Last {
    std::string topic;
    bool readable = true;
    size_t part = 0;
  };
  std::unordered_map<std::string, Last> aggregates;
  Pieces parts;
  for (OutboxRow& row : rows) {
    const bool readable = row.unreadable.empty();
    const auto [at, first] = aggregates.try_emplace(row.aggregate, row.message.topic, readable, 0);
    Last& last = at->second;
    const bool goes_on = first || (readable && last.readable && last.topic == row.message.topic);
    if (!goes_on) last = {row.message.topic, readable, last.part + 1};
    if (last.part >= parts.size()) parts.resize(last.part + 1);
    parts[last.part].push_back(std::move(row));
  }
  return parts;
}

}  // namespace

Pieces in_pieces(std::vector<OutboxRow> rows, size_t most_bytes) {
  Pieces pieces;
  for (std::vector<OutboxRow>& part : by_change_of_topic(std::move(rows))) {
    size_t bytes = most_bytes + 1;  // a part begins a piece
    for (OutboxRow& row : part) {
      const size_t more = bytes_of(row.message);
      if (bytes + more > most_bytes) {
        pieces.emplace_back();
        bytes = 0;
      }
      bytes += more;
      pieces.back().push_back(std::move(row));
    }
  }
  return pieces;
}

}  // namespace sluice::messaging
