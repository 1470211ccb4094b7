#include "messaging/letter_count.h"

#include <algorithm>

namespace sluice::messaging {

int64_t LetterCount::begin(const PartitionBounds& bounds) {
  // A partition whose end has moved back was created anew.
  if (incomplete_ || bounds.end < next_) *this = {};
  std::erase_if(last_, [&bounds](const auto& letter) { return letter.second < bounds.first; });
  next_ = std::max(next_, bounds.first);
  return next_;
}

void LetterCount::add(const Delivery& delivery) {
  LetterEntry entry = read_entry(delivery);
  const auto known = last_.find(entry.subject);
  if (entry.settles_to) {
    if (known != last_.end() && known->second <= *entry.settles_to) last_.erase(known);
  } else if (known != last_.end()) {
    known->second = delivery.offset;
  } else if (last_.size() >= most_open) {
    incomplete_ = true;
  } else {
    last_.emplace(std::move(entry.subject), delivery.offset);
  }
}

}  // namespace sluice::messaging
