#include "messaging/letter_reader.h"

#include <algorithm>

namespace sluice::messaging {
namespace {

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

LetterReader::LetterReader(LogView& view, std::vector<std::string> topics, std::vector<OutboxDead*> outboxes)
    : view_(view), topics_(std::move(topics)), outboxes_(std::move(outboxes)) {}

Task<std::vector<std::pair<std::string, PartitionBounds>>> LetterReader::partitions() {
  const std::vector<TopicView> topics = co_await view_.topics();
  std::vector<std::pair<std::string, PartitionBounds>> found;
  for (const TopicView& view : topics) {
    if (std::ranges::find(topics_, view.topic.name) == topics_.end()) continue;
    for (const PartitionBounds& bounds : view.partitions) found.emplace_back(view.topic.name, bounds);
  }
  co_return found;
}

Task<std::vector<OpenLetters>> LetterReader::scan() {
  const auto all = co_await partitions();
  std::vector<OpenLetters> scanned;
  for (const auto& [topic, bounds] : all) {
    OpenLetters open_letters = co_await scan_partition(topic, bounds);
    scanned.push_back(std::move(open_letters));
  }
  co_return scanned;
}

Task<OpenLetters> LetterReader::scan_partition(std::string topic, PartitionBounds bounds) {
  OpenLetters open_letters(topic, bounds.partition);
  for (int64_t from = bounds.first; from < bounds.end;) {
    const std::vector<Delivery> messages = co_await view_.read(topic, bounds.partition, from, letters_page);
    for (const Delivery& message : messages) {
      if (message.offset < bounds.end) open_letters.add(message);
    }
    from = messages.empty() ? bounds.end : messages.back().offset + 1;
  }
  co_return open_letters;
}

// The whole letters; those removed meanwhile are left out.
Task<std::vector<DeadLetter>> LetterReader::load(const OpenLetters& open_letters, std::vector<int64_t> offsets) {
  std::vector<DeadLetter> letters;
  for (auto wanted = offsets.begin(); wanted != offsets.end();) {
    const std::vector<Delivery> messages =
        co_await view_.read(open_letters.topic(), open_letters.partition(), *wanted, letters_page);
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

Task<std::optional<DeadLetter>> LetterReader::find(Position letter) {
  if (letter.topic == outbox_letters) {
    LetterSelection selection;
    selection.letter = std::move(letter);
    RowsWanted wanted{.from = selection.letter, .most = 1, .whole = true};
    std::vector<DeadLetter> found = co_await rows(std::move(selection), std::move(wanted));
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
Task<bool> LetterReader::is_open(Delivery letter, PartitionBounds bounds) {
  const std::string subject = read_entry(letter).subject;
  OpenLetters open_letters(letter.assignment->topic, bounds.partition);
  open_letters.add(letter);
  for (int64_t from = letter.offset + 1; from < bounds.end && open_letters.open().contains(letter.offset);) {
    const std::vector<Delivery> messages =
        co_await view_.read(open_letters.topic(), bounds.partition, from, letters_page);
    for (const Delivery& message : messages) {
      if (read_entry(message).subject == subject) open_letters.add(message);
    }
    from = messages.empty() ? bounds.end : messages.back().offset + 1;
  }
  co_return open_letters.open().contains(letter.offset);
}

Task<std::vector<DeadLetter>> LetterReader::rows(LetterSelection selection, RowsWanted wanted) {
  std::vector<DeadLetter> found;
  for (size_t database = 0; database < outboxes_.size(); ++database) {
    std::vector<DeadRow> some;
    for (int64_t after = 0; found.size() < wanted.most; after = some.back().id) {
      some = co_await outboxes_[database]->list(after, letters_page);
      for (DeadRow& row : some) {
        DeadLetter letter = letter_of(static_cast<int32_t>(database), std::move(row));
        const bool skipped = wanted.from && letter.position < *wanted.from;
        if (skipped || found.size() == wanted.most || !selection.takes(letter)) continue;
        if (!wanted.whole) letter.original.payload = {};
        found.push_back(std::move(letter));
      }
      if (some.size() < letters_page) break;
    }
  }
  co_return found;
}

Task<size_t> LetterReader::count_rows() {
  size_t count = 0;
  for (OutboxDead* const outbox : outboxes_) count += co_await outbox->count();
  co_return count;
}

}  // namespace sluice::messaging
