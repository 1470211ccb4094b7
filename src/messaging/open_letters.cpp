#include "messaging/open_letters.h"

#include <algorithm>

namespace sluice::messaging {

void OpenLetters::add(const Delivery& delivery) {
  seen_to_ = delivery.offset + 1;
  LetterEntry entry = read_entry(delivery);
  const auto known = by_subject_.find(entry.subject);
  if (entry.settles_to) {
    if (known == by_subject_.end() || open_.at(known->second).last > *entry.settles_to) return;
    open_.erase(known->second);
    by_subject_.erase(known);
  } else if (known != by_subject_.end()) {
    open_.at(known->second).last = delivery.offset;
  } else if (open_.size() >= most_open_) {
    if (!unseen_from_) unseen_from_ = delivery.offset;
  } else {
    DeadLetter letter = read_letter(delivery);
    letter.original.payload = {};
    letter.original.headers = {};
    letter.failure.error = {};
    by_subject_.emplace(entry.subject, delivery.offset);
    open_.emplace(delivery.offset, Open{std::move(letter), std::move(entry.subject), delivery.offset});
  }
}

void OpenLetters::settle(int64_t offset) {
  const auto settled = open_.find(offset);
  by_subject_.erase(settled->second.subject);
  open_.erase(settled);
}

int64_t OpenLetters::settled_before() const {
  int64_t before = seen_to_;
  if (!open_.empty()) before = std::min(before, open_.begin()->first);
  if (unseen_from_) before = std::min(before, *unseen_from_);
  return before;
}

}  // namespace sluice::messaging
