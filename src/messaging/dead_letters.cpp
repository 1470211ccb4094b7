#include "messaging/dead_letters.h"

#include <algorithm>

#include "runtime/errors.h"

namespace sluice::messaging {
namespace {

constexpr size_t page = 200;   // messages read at once
constexpr size_t batch = 100;  // letters settled at once

std::vector<int64_t> selected_of(const LetterFold& fold, const LetterSelection& selection) {
  std::vector<int64_t> offsets;
  for (const auto& [offset, open] : fold.open()) {
    if (selection.takes(open.letter)) offsets.push_back(offset);
  }
  return offsets;
}

// A row that its outbox gave up, seen as a letter.
DeadLetter letter_of(int32_t database, DeadRow row) {
  DeadLetter letter;
  letter.position = {std::string(outbox_letters), database, row.id};
  letter.group = "relay";
  letter.failure = {"REJECTED", std::move(row.reason), row.tries, row.failed_at};
  letter.original = to_message(std::move(row.message));
  letter.origin = letter.position;
  letter.complete = true;
  return letter;
}

}  // namespace

bool LetterSelection::takes(const DeadLetter& candidate) const {
  return (!topic || candidate.original.topic == *topic) && (!reason || candidate.failure.reason == *reason) &&
         (!key || candidate.original.key == *key) && (!failed_from || candidate.failure.at >= *failed_from) &&
         (!failed_before || candidate.failure.at < *failed_before) && (!letter || candidate.position == *letter);
}

DeadLetters::DeadLetters(MessageLog& log, LogView& view, Clock& clock, std::vector<std::string> topics,
                         std::vector<OutboxDead*> outboxes)
    : log_(log), view_(view), clock_(clock), topics_(std::move(topics)), outboxes_(std::move(outboxes)) {}

Task<std::vector<LetterGroup>> DeadLetters::groups(LetterSelection selection) {
  const std::vector<LetterFold> folds = co_await scan();
  std::map<std::tuple<std::string, std::string, std::string>, LetterGroup> groups;
  const auto count = [&groups](const DeadLetter& letter) {
    LetterGroup& group = groups[{letter.position.topic, letter.original.topic, letter.failure.reason}];
    const Time at = letter.failure.at;
    group.oldest = group.count == 0 ? at : std::min(group.oldest, at);
    group.newest = std::max(group.newest, at);
    ++group.count;
  };
  for (const LetterFold& fold : folds) {
    for (const auto& [offset, open] : fold.open()) {
      if (selection.takes(open.letter)) count(open.letter);
    }
  }
  const std::vector<DeadLetter> refused = co_await rows(std::move(selection));
  std::ranges::for_each(refused, count);
  std::vector<LetterGroup> found;
  for (auto& [names, group] : groups) {
    std::tie(group.letters_topic, group.topic, group.reason) = names;
    found.push_back(std::move(group));
  }
  std::ranges::sort(found, [](const LetterGroup& a, const LetterGroup& b) {
    return std::tie(b.count, a.letters_topic, a.topic, a.reason) <
           std::tie(a.count, b.letters_topic, b.topic, b.reason);
  });
  co_return found;
}

Task<LetterPage> DeadLetters::list(LetterSelection selection, size_t most, std::optional<Position> from) {
  std::vector<LetterFold> folds = co_await scan();
  std::ranges::sort(folds, {}, [](const LetterFold& fold) { return std::pair(fold.topic(), fold.partition()); });
  LetterPage result;
  for (const LetterFold& fold : folds) {
    if (from && from->topic == outbox_letters) break;  // those come behind all topics
    std::vector<int64_t> offsets = selected_of(fold, selection);
    std::erase_if(offsets, [&](int64_t offset) { return Position{fold.topic(), fold.partition(), offset} < from; });
    const size_t room = most - result.letters.size();
    if (offsets.size() > room) result.next = Position{fold.topic(), fold.partition(), offsets[room]};
    offsets.resize(std::min(offsets.size(), room));
    std::vector<DeadLetter> letters = co_await load(fold, std::move(offsets));
    std::ranges::move(letters, std::back_inserter(result.letters));
    if (result.next) co_return result;
  }
  std::vector<DeadLetter> refused = co_await rows(std::move(selection), std::move(from));
  const size_t room = most - result.letters.size();
  if (refused.size() > room) result.next = refused[room].position;
  refused.resize(std::min(refused.size(), room));
  std::ranges::move(refused, std::back_inserter(result.letters));
  co_return result;
}

Task<std::optional<DeadLetter>> DeadLetters::show(Position letter) {
  if (letter.topic == outbox_letters) {
    LetterSelection selection;
    selection.letter = std::move(letter);
    std::vector<DeadLetter> found = co_await rows(std::move(selection));
    if (found.empty()) co_return std::nullopt;
    co_return std::move(found.front());
  }
  const auto all = co_await partitions();
  for (const auto& [topic, bounds] : all) {
    if (topic != letter.topic || bounds.partition != letter.partition) continue;
    const std::vector<Delivery> found = co_await view_.read(topic, bounds.partition, letter.offset, 1);
    if (found.empty() || found.front().offset != letter.offset) continue;
    const bool open = co_await is_open(found.front(), bounds);
    if (open) co_return read_letter(found.front());
  }
  co_return std::nullopt;
}

// Whether it is a letter, and no mark behind it settles it.
Task<bool> DeadLetters::is_open(Delivery letter, PartitionBounds bounds) {
  const std::string subject = read_entry(letter).subject;
  LetterFold fold(letter.assignment->topic, bounds.partition, bounds.end);
  fold.add(letter);
  for (int64_t from = letter.offset + 1; from < bounds.end && fold.open().contains(letter.offset);) {
    const std::vector<Delivery> messages = co_await view_.read(fold.topic(), bounds.partition, from, page);
    for (const Delivery& message : messages) {
      if (read_entry(message).subject == subject) fold.add(message);
    }
    if (messages.size() < page) break;
    from = messages.back().offset + 1;
  }
  co_return fold.open().contains(letter.offset);
}

Task<std::map<std::string, size_t>> DeadLetters::open() {
  const auto all = co_await partitions();
  Counts counts;
  {
    const std::lock_guard lock(counts_mutex_);
    counts.swap(counts_);
  }
  std::map<std::string, size_t> open;
  for (const std::string& topic : topics_) open[topic] = 0;
  for (const auto& [topic, bounds] : all) {
    LetterCount& count = counts[{topic, bounds.partition}];
    co_await count_on(count, topic, bounds);
    open[topic] += count.open();
  }
  {
    const std::lock_guard lock(counts_mutex_);
    counts_.swap(counts);
  }
  const std::vector<DeadLetter> refused = co_await rows({});
  if (!outboxes_.empty()) open[std::string(outbox_letters)] = refused.size();
  co_return open;
}

Task<> DeadLetters::count_on(LetterCount& count, std::string topic, PartitionBounds bounds) {
  for (int64_t from = count.begin(bounds); from < bounds.end;) {
    const std::vector<Delivery> messages = co_await view_.read(topic, bounds.partition, from, page);
    for (const Delivery& message : messages) {
      if (message.offset < bounds.end) count.add(message);
    }
    if (messages.size() < page) break;
    from = messages.back().offset + 1;
  }
  count.reached(bounds);
}

Task<LetterProgress> DeadLetters::replay(LetterSelection selection, SettleOptions options) {
  return settle(std::move(selection), std::move(options), Settled::replayed);
}

Task<LetterProgress> DeadLetters::purge(LetterSelection selection, SettleOptions options) {
  return settle(std::move(selection), std::move(options), Settled::purged);
}

Task<std::vector<std::pair<std::string, PartitionBounds>>> DeadLetters::partitions() {
  const std::vector<TopicView> topics = co_await view_.topics();
  std::vector<std::pair<std::string, PartitionBounds>> found;
  for (const TopicView& view : topics) {
    if (std::ranges::find(topics_, view.topic.name) == topics_.end()) continue;
    for (const PartitionBounds& bounds : view.partitions) found.emplace_back(view.topic.name, bounds);
  }
  co_return found;
}

Task<std::vector<LetterFold>> DeadLetters::scan() {
  const auto all = co_await partitions();
  std::vector<LetterFold> folds;
  for (const auto& [topic, bounds] : all) {
    LetterFold fold = co_await scan_partition(topic, bounds);
    folds.push_back(std::move(fold));
  }
  co_return folds;
}

Task<LetterFold> DeadLetters::scan_partition(std::string topic, PartitionBounds bounds) {
  LetterFold fold(topic, bounds.partition, bounds.end);
  for (int64_t from = bounds.first; from < bounds.end;) {
    const std::vector<Delivery> messages = co_await view_.read(topic, bounds.partition, from, page);
    if (messages.empty()) break;
    for (const Delivery& message : messages) {
      if (message.offset < bounds.end) fold.add(message);
    }
    from = messages.back().offset + 1;
  }
  co_return fold;
}

// The whole letters; one that has gone meanwhile is left out.
Task<std::vector<DeadLetter>> DeadLetters::load(const LetterFold& fold, std::vector<int64_t> offsets) {
  std::vector<DeadLetter> letters;
  for (auto wanted = offsets.begin(); wanted != offsets.end();) {
    const std::vector<Delivery> messages = co_await view_.read(fold.topic(), fold.partition(), *wanted, page);
    if (messages.empty()) break;
    for (const Delivery& message : messages) {
      while (wanted != offsets.end() && *wanted < message.offset) ++wanted;
      if (wanted == offsets.end() || *wanted != message.offset) continue;
      letters.push_back(read_letter(message));
      ++wanted;
    }
  }
  co_return letters;
}

Task<LetterProgress> DeadLetters::settle(LetterSelection selection, SettleOptions options, Settled how) {
  std::vector<LetterFold> folds = co_await scan();
  LetterProgress progress;
  for (const LetterFold& fold : folds) progress.selected += selected_of(fold, selection).size();
  const std::vector<DeadLetter> refused = co_await rows(selection);
  progress.selected += refused.size();
  if (options.on_progress) options.on_progress(progress);
  if (options.dry_run) co_return progress;

  std::set<std::string> stuck;  // keys of which a letter was refused: later ones must not overtake it
  for (LetterFold& fold : folds) {
    const std::vector<int64_t> offsets = selected_of(fold, selection);
    for (size_t at = 0; at < offsets.size() && progress.settled < options.most;) {
      const size_t count = std::min({batch, offsets.size() - at, options.most - progress.settled});
      const auto first = offsets.begin() + static_cast<ptrdiff_t>(at);
      std::vector<int64_t> some(first, first + static_cast<ptrdiff_t>(count));
      at += count;
      co_await settle_batch(fold, std::move(some), how, progress, stuck);
      if (options.on_progress) options.on_progress(progress);
    }
    if (fold.end() > 0) co_await view_.trim(fold.topic(), fold.partition(), fold.settled_before());
  }
  for (const DeadLetter& letter : refused) {
    if (progress.settled >= options.most) break;
    OutboxDead& outbox = *outboxes_[static_cast<size_t>(letter.position.partition)];
    const int64_t row = letter.position.offset;
    const bool was_there = co_await (how == Settled::replayed ? outbox.replay(row) : outbox.discard(row));
    if (was_there) ++progress.settled;
    if (options.on_progress) options.on_progress(progress);
  }
  co_return progress;
}

Task<std::vector<DeadLetter>> DeadLetters::rows(LetterSelection selection, std::optional<Position> from) {
  std::vector<DeadLetter> found;
  for (size_t database = 0; database < outboxes_.size(); ++database) {
    std::vector<DeadRow> some;
    for (int64_t after = 0;; after = some.back().id) {
      some = co_await outboxes_[database]->list(after, page);
      for (DeadRow& row : some) {
        DeadLetter letter = letter_of(static_cast<int32_t>(database), row);
        const bool skipped = from && from->topic == outbox_letters && letter.position < *from;
        if (!skipped && selection.takes(letter)) found.push_back(std::move(letter));
      }
      if (some.size() < page) break;
    }
  }
  co_return found;
}

Task<> DeadLetters::settle_batch(LetterFold& fold, std::vector<int64_t> offsets, Settled how, LetterProgress& progress,
                                 std::set<std::string>& stuck) {
  std::vector<DeadLetter> letters = co_await load(fold, std::move(offsets));
  if (how == Settled::replayed) letters = co_await publish_originals(std::move(letters), progress, stuck);
  co_await mark(fold, letters, how);
  progress.settled += letters.size();
}

// Those whose originals are in the log again.
Task<std::vector<DeadLetter>> DeadLetters::publish_originals(std::vector<DeadLetter> letters, LetterProgress& progress,
                                                             std::set<std::string>& stuck) {
  const auto is_stuck = [&stuck](const DeadLetter& letter) {
    return stuck.contains(letter.original.topic + ":" + letter.original.key);
  };
  const auto refuse = [&](const DeadLetter& letter, std::string why) {
    ++progress.refused;
    progress.refused_because = letter.id() + ": " + std::move(why);
    stuck.insert(letter.original.topic + ":" + letter.original.key);
  };
  std::vector<DeadLetter> ready;
  std::vector<Message> originals;
  for (DeadLetter& letter : letters) {
    bool whole = false;
    if (!is_stuck(letter)) whole = co_await complete(letter);
    // Again: a key that was cut is whole now.
    if (is_stuck(letter)) {
      refuse(letter, "an earlier one of its key was refused");
    } else if (!whole) {
      refuse(letter, "its original is gone");
    } else {
      originals.push_back(letter.original);
      ready.push_back(std::move(letter));
    }
  }
  std::vector<DeadLetter> done;
  if (originals.empty()) co_return done;
  const std::vector<Published> outcomes = co_await log_.publish(std::move(originals));
  for (const Published& outcome : outcomes) {
    if (const auto* unknown = std::get_if<Unknown>(&outcome)) throw EngineUnavailable("log", unknown->why);
  }
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (std::holds_alternative<Position>(outcomes[i])) {
      done.push_back(std::move(ready[i]));
    } else {
      const auto* rejected = std::get_if<Rejected>(&outcomes[i]);
      refuse(ready[i], rejected ? rejected->reason : "an earlier one of its key was refused");
    }
  }
  co_return done;
}

// Fetches an original that was too large for its letter from where it stood.
Task<bool> DeadLetters::complete(DeadLetter& letter) {
  if (letter.complete) co_return true;
  if (letter.origin == letter.position) co_return false;
  const Position origin = letter.origin;
  const std::vector<Delivery> found = co_await view_.read(origin.topic, origin.partition, origin.offset, 1);
  if (found.empty() || found.front().offset != origin.offset) co_return false;
  letter.original = found.front().message();
  letter.complete = true;
  co_return true;
}

Task<> DeadLetters::mark(LetterFold& fold, const std::vector<DeadLetter>& letters, Settled how) {
  if (letters.empty()) co_return;
  std::vector<Message> marks;
  for (const DeadLetter& letter : letters) {
    const int64_t last = fold.open().at(letter.position.offset).last;
    marks.push_back(write_mark(letter, last, how, clock_.wall()));
  }
  const std::vector<Published> outcomes = co_await log_.publish(std::move(marks));
  for (const Published& outcome : outcomes) {
    if (!std::holds_alternative<Position>(outcome)) throw EngineUnavailable("log", "it takes no mark of a dead letter");
  }
  for (const DeadLetter& letter : letters) fold.settle(letter.position.offset);
}

}  // namespace sluice::messaging
