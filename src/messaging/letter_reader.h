// Finds dead letters: in the dead-letter topics of the log, and among the rows that outboxes gave up.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messaging/log_view.h"
#include "messaging/open_letters.h"
#include "messaging/outbox_dead.h"

namespace sluice::messaging {

// The topic name in ids of letters about rows of outboxes.
inline constexpr std::string_view outbox_letters = "outbox";

// Which letters; an unset field matches all.
struct LetterSelection {
  std::optional<std::string> topic{};  // of the original
  std::optional<std::string> reason{};
  std::optional<std::string> key{};
  std::optional<Time> failed_from{};    // inclusive
  std::optional<Time> failed_before{};  // exclusive
  std::optional<Position> letter{};     // just this one

  bool takes(const DeadLetter& letter) const;
};

// Messages or rows read at once.
inline constexpr size_t letters_page = 200;

// Thread-safe; the given objects outlive it.
class LetterReader {
 public:
  LetterReader(LogView& view, std::vector<std::string> topics, std::vector<OutboxDead*> outboxes);

  const std::vector<std::string>& topics() const { return topics_; }
  const std::vector<OutboxDead*>& outboxes() const { return outboxes_; }

  // The partitions of all dead-letter topics.
  Task<std::vector<std::pair<std::string, PartitionBounds>>> partitions();
  // The current content of each topic.
  Task<std::vector<OpenLetters>> scan();
  // The whole letters; those removed meanwhile are left out.
  Task<std::vector<DeadLetter>> load(const OpenLetters& open_letters, std::vector<int64_t> offsets);
  // Rows of the outboxes that are selected.
  struct RowsWanted {
    std::optional<Position> from{};  // this one or later
    size_t most = std::numeric_limits<size_t>::max();
    bool whole = false;  // with payloads
  };
  Task<std::vector<DeadLetter>> rows(LetterSelection selection, RowsWanted wanted);
  Task<size_t> count_rows();
  // Nothing where there is no open letter.
  Task<std::optional<DeadLetter>> find(Position letter);

 private:
  Task<OpenLetters> scan_partition(std::string topic, PartitionBounds bounds);
  Task<bool> is_open(Delivery letter, PartitionBounds bounds);

  LogView& view_;
  const std::vector<std::string> topics_;
  const std::vector<OutboxDead*> outboxes_;
};

}  // namespace sluice::messaging
