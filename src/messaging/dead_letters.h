// Operations on dead letters: list, replay, purge. Nothing is ever replayed automatically.
//
// Listing reads the dead-letter topics from their oldest message to their end at the start, and combines letters with
// the marks behind them. That needs no state besides the log, and costs as much as the topics contain: settled letters
// are trimmed from their beginning as soon as nothing before them is open. Showing one letter reads only the entries
// behind it, and counting, which happens all the time, only those added since the last count.
//
// A row that the log refused and whose outbox gave it up (messaging/outbox_dead.h) is shown as a letter, too: its id is
// "outbox:DATABASE:ROW", its reason REJECTED, and replaying or purging it lets its aggregate continue.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "messaging/letter_count.h"
#include "messaging/letter_reader.h"
#include "messaging/message_log.h"
#include "runtime/clock.h"

namespace sluice::messaging {

struct LetterGroup {
  std::string letters_topic;
  std::string topic;  // of the originals
  std::string reason;
  size_t count = 0;
  Time oldest{};
  Time newest{};
};

struct LetterPage {
  std::vector<DeadLetter> letters;  // by letters' topic, partition and offset
  std::optional<Position> next{};   // where the next page starts; nothing behind the last
};

// How far a replay or purge is.
struct LetterProgress {
  size_t selected = 0;
  size_t settled = 0;
  // Stay as they are: the original is gone, the log rejects it, or one before it with its key was refused.
  size_t refused = 0;
  std::string refused_because{};  // the last of them

  // Selected, and neither settled nor refused: for the next call.
  size_t remaining() const { return selected - std::min(selected, settled + refused); }
};
// Called after each batch, and once at the start.
using OnProgress = std::function<void(const LetterProgress&)>;

struct SettleOptions {
  bool dry_run = false;  // only count the selected letters
  // Ends when this many are settled; refused ones are skipped, so that they never hide those behind them. The first of
  // each partition come first.
  size_t most = std::numeric_limits<size_t>::max();
  OnProgress on_progress{};
};

// Safe to use from any thread, for as long as log and view are. All throw EngineUnavailable; repeating a call goes on
// where the last one ended.
class DeadLetters {
 public:
  // `topics` are the dead-letter topics; `outboxes` those of the installation's databases, which outlive it.
  DeadLetters(MessageLog& log, LogView& view, Clock& clock, std::vector<std::string> topics,
              std::vector<OutboxDead*> outboxes = {});

  // Open letters counted by topic and reason, the largest first.
  Task<std::vector<LetterGroup>> groups(LetterSelection selection);
  // Open letters, at most `most`, from `from` on.
  Task<LetterPage> list(LetterSelection selection, size_t most, std::optional<Position> from = std::nullopt);
  // Nothing where there is no open letter.
  Task<std::optional<DeadLetter>> show(Position letter) { return reader_.find(std::move(letter)); }
  // How many are open in each dead-letter topic, and in "outbox".
  Task<std::map<std::string, size_t>> open();

  // Publishes each original to its topic, with its headers and its message id, and then marks its letter: consumers
  // that handled the message already recognize it. In order for each key. A replay interrupted between the two
  // publishes twice.
  Task<LetterProgress> replay(LetterSelection selection, SettleOptions options = {});

  // Gives the letters up.
  Task<LetterProgress> purge(LetterSelection selection, SettleOptions options = {});

 private:
  Task<> count_on(LetterCount& count, std::string topic, PartitionBounds bounds);
  Task<LetterProgress> settle(LetterSelection selection, SettleOptions options, Settled how);
  Task<> settle_batch(OpenLetters& open_letters, std::vector<int64_t> offsets, Settled how, LetterProgress& progress,
                      std::set<std::string>& stuck);
  Task<std::vector<DeadLetter>> publish_originals(std::vector<DeadLetter> letters, LetterProgress& progress,
                                                  std::set<std::string>& stuck);
  Task<bool> complete(DeadLetter& letter);
  Task<> mark(OpenLetters& open_letters, const std::vector<DeadLetter>& letters, Settled how);

  MessageLog& log_;
  LogView& view_;
  Clock& clock_;
  LetterReader reader_;

  using Counts = std::map<std::pair<std::string, int32_t>, LetterCount>;
  std::mutex counts_mutex_;
  Counts counts_;  // empty during a count: a concurrent count starts from the beginning
};

}  // namespace sluice::messaging
