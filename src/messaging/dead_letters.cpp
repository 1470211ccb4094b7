#include "messaging/dead_letters.h"

#include <algorithm>

#include "runtime/errors.h"

namespace sluice::messaging {
namespace {

constexpr size_t batch = 100;  // letters settled at once

std::vector<int64_t> selected_of(const OpenLetters& open_letters, const LetterSelection& selection) {
  std::vector<int64_t> offsets;
  for (const auto& [offset, open] : open_letters.open()) {
    if (selection.takes(open.letter)) offsets.push_back(offset);
  }
  return offsets;
}

}  // namespace

DeadLetters::DeadLetters(MessageLog& log, LogView& view, Clock& clock, std::vector<std::string> topics,
                         std::vector<OutboxDead*> outboxes)
    : log_(log), view_(view), clock_(clock), reader_(view, std::move(topics), std::move(outboxes)) {}

Task<std::vector<LetterGroup>> DeadLetters::groups(LetterSelection selection) {
  const std::vector<OpenLetters> scanned = co_await reader_.scan();
  std::map<std::tuple<std::string, std::string, std::string>, LetterGroup> groups;
  const auto count = [&groups](const DeadLetter& letter) {
    LetterGroup& group = groups[{letter.position.topic, letter.original.topic, letter.failure.reason}];
    const Time at = letter.failure.at;
    group.oldest = group.count == 0 ? at : std::min(group.oldest, at);
    group.newest = std::max(group.newest, at);
    ++group.count;
  };
  for (const OpenLetters& open_letters : scanned) {
    for (const auto& [offset, open] : open_letters.open()) {
      if (selection.takes(open.letter)) count(open.letter);
    }
  }
  const std::vector<DeadLetter> refused = co_await reader_.rows(std::move(selection), {});
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
  std::vector<OpenLetters> scanned = co_await reader_.scan();
  std::ranges::sort(scanned, {}, [](const OpenLetters& open_letters) {
    return std::pair(open_letters.topic(), open_letters.partition());
  });
  LetterPage result;
  for (const OpenLetters& open_letters : scanned) {
    if (from && from->topic == outbox_letters) break;  // those come behind all topics
    std::vector<int64_t> offsets = selected_of(open_letters, selection);
    std::erase_if(offsets, [&](int64_t offset) {
      return Position{open_letters.topic(), open_letters.partition(), offset} < from;
    });
    const size_t room = most - result.letters.size();
    if (offsets.size() > room) result.next = Position{open_letters.topic(), open_letters.partition(), offsets[room]};
    offsets.resize(std::min(offsets.size(), room));
    std::vector<DeadLetter> letters = co_await reader_.load(open_letters, std::move(offsets));
    std::ranges::move(letters, std::back_inserter(result.letters));
    if (result.next) co_return result;
  }
  const size_t room = most - result.letters.size();
  LetterReader::RowsWanted wanted{.most = room + 1, .whole = true};
  if (from && from->topic == outbox_letters) wanted.from = std::move(from);
  std::vector<DeadLetter> refused = co_await reader_.rows(std::move(selection), std::move(wanted));
  if (refused.size() > room) result.next = refused[room].position;
  refused.resize(std::min(refused.size(), room));
  std::ranges::move(refused, std::back_inserter(result.letters));
  co_return result;
}

Task<std::map<std::string, size_t>> DeadLetters::open() {
  const auto all = co_await reader_.partitions();
  Counts counts;
  {
    const std::lock_guard lock(counts_mutex_);
    counts.swap(counts_);
  }
  std::map<std::string, size_t> open;
  for (const std::string& topic : reader_.topics()) open[topic] = 0;
  for (const auto& [topic, bounds] : all) {
    LetterCount& count = counts[{topic, bounds.partition}];
    co_await count_on(count, topic, bounds);
    open[topic] += count.open();
  }
  {
    const std::lock_guard lock(counts_mutex_);
    counts_.swap(counts);
  }
  const size_t refused = co_await reader_.count_rows();
  if (!reader_.outboxes().empty()) open[std::string(outbox_letters)] = refused;
  co_return open;
}

Task<> DeadLetters::count_on(LetterCount& count, std::string topic, PartitionBounds bounds) {
  for (int64_t from = count.begin(bounds); from < bounds.end;) {
    const std::vector<Delivery> messages = co_await view_.read(topic, bounds.partition, from, letters_page);
    for (const Delivery& message : messages) {
      if (message.offset < bounds.end) count.add(message);
    }
    from = messages.empty() ? bounds.end : messages.back().offset + 1;
  }
  count.reached(bounds);
}

Task<LetterProgress> DeadLetters::replay(LetterSelection selection, SettleOptions options) {
  return settle(std::move(selection), std::move(options), Settled::replayed);
}

Task<LetterProgress> DeadLetters::purge(LetterSelection selection, SettleOptions options) {
  return settle(std::move(selection), std::move(options), Settled::purged);
}

Task<LetterProgress> DeadLetters::settle(LetterSelection selection, SettleOptions options, Settled how) {
  std::vector<OpenLetters> scanned = co_await reader_.scan();
  LetterProgress progress;
  for (const OpenLetters& open_letters : scanned) progress.selected += selected_of(open_letters, selection).size();
  const std::vector<DeadLetter> refused = co_await reader_.rows(selection, {});
  progress.selected += refused.size();
  if (options.on_progress) options.on_progress(progress);
  if (options.dry_run) co_return progress;

  std::set<std::string> stuck;  // keys of which a letter was refused: later ones must not overtake it
  for (OpenLetters& open_letters : scanned) {
    const std::vector<int64_t> offsets = selected_of(open_letters, selection);
    for (size_t at = 0; at < offsets.size() && progress.settled < options.most;) {
      const size_t count = std::min({batch, offsets.size() - at, options.most - progress.settled});
      const auto first = offsets.begin() + static_cast<ptrdiff_t>(at);
      std::vector<int64_t> some(first, first + static_cast<ptrdiff_t>(count));
      at += count;
      co_await settle_batch(open_letters, std::move(some), how, progress, stuck);
      if (options.on_progress) options.on_progress(progress);
    }
    const int64_t settled = open_letters.settled_before();
    if (settled > 0) co_await view_.trim(open_letters.topic(), open_letters.partition(), settled);
  }
  for (const DeadLetter& letter : refused) {
    if (progress.settled >= options.most) break;
    OutboxDead& outbox = *reader_.outboxes()[static_cast<size_t>(letter.position.partition)];
    const int64_t row = letter.position.offset;
    Task<bool> settling = how == Settled::replayed ? outbox.replay(row) : outbox.discard(row);
    const bool was_there = co_await std::move(settling);
    if (was_there) ++progress.settled;
    if (options.on_progress) options.on_progress(progress);
  }
  co_return progress;
}

Task<> DeadLetters::settle_batch(OpenLetters& open_letters, std::vector<int64_t> offsets, Settled how,
                                 LetterProgress& progress, std::set<std::string>& stuck) {
  std::vector<DeadLetter> letters = co_await reader_.load(open_letters, std::move(offsets));
  if (how == Settled::replayed) letters = co_await publish_originals(std::move(letters), progress, stuck);
  co_await mark(open_letters, letters, how);
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
      refuse(letter, "an earlier letter with the same key was refused");
    } else if (!whole) {
      refuse(letter, "its original message no longer exists");
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
      refuse(ready[i], rejected ? rejected->reason : "an earlier letter with the same key was refused");
    }
  }
  co_return done;
}

// Fetches an original that was too large for its letter from its own topic.
Task<bool> DeadLetters::complete(DeadLetter& letter) {
  if (letter.complete) co_return true;
  if (letter.origin == letter.position) co_return false;
  const Position origin = letter.origin;
  const std::vector<TopicView> topics = co_await view_.topics();
  if (std::ranges::none_of(topics, [&](const TopicView& view) { return view.topic.name == origin.topic; })) {
    co_return false;
  }
  const std::vector<Delivery> found = co_await view_.read(origin.topic, origin.partition, origin.offset, 1);
  if (found.empty() || found.front().offset != origin.offset) co_return false;
  letter.original = found.front().message();
  letter.complete = true;
  co_return true;
}

Task<> DeadLetters::mark(OpenLetters& open_letters, const std::vector<DeadLetter>& letters, Settled how) {
  if (letters.empty()) co_return;
  std::vector<Message> marks;
  for (const DeadLetter& letter : letters) {
    const int64_t last = open_letters.open().at(letter.position.offset).last;
    marks.push_back(write_mark(letter, last, how, clock_.wall()));
  }
  const std::vector<Published> outcomes = co_await log_.publish(std::move(marks));
  for (const Published& outcome : outcomes) {
    if (!std::holds_alternative<Position>(outcome))
      throw EngineUnavailable("log", "it refused to record a dead letter as settled");
  }
  for (const DeadLetter& letter : letters) open_letters.settle(letter.position.offset);
}

}  // namespace sluice::messaging
