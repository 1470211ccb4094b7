#include "http/sse/sse_mailbox.h"

#include "http/server/server_metrics.h"

namespace sluice::http {

size_t SseMailbox::bytes_of(const Letter& letter) {
  const size_t frame = letter.frame ? letter.frame->size() : 0;
  return sizeof letter + letter.topic.size() + letter.subscriber.size() + frame;
}

void SseMailbox::keep(Letter letter) {
  const size_t bytes = bytes_of(letter);
  if (letters_.empty() || bytes_ + bytes <= max_bytes_) {
    bytes_ += bytes;
    letters_.push_back(std::move(letter));
    return;
  }
  if (letter.frame) count_rejected("sse_overflow");
  if (!everybody_missed_) write_down(std::move(letter));
}

void SseMailbox::write_down(Letter letter) {
  Name name(std::move(letter.topic), std::move(letter.subscriber));
  if (letter.frame) {
    missed_.insert(std::move(name));
  } else {
    uint64_t& latest = replaced_[std::move(name)];
    latest = std::max(latest, letter.generation);
  }
  if (missed_.size() + replaced_.size() <= max_missed) return;
  everybody_missed_ = true;
  missed_.clear();
  replaced_.clear();
}

SseMailbox::Mail SseMailbox::take() {
  const std::lock_guard lock(mutex_);
  Mail mail{.replaced = std::exchange(replaced_, {}),
            .missed = std::exchange(missed_, {}),
            .everybody_missed = std::exchange(everybody_missed_, false),
            .letter = {}};
  awake_ = !letters_.empty();
  if (!awake_) return mail;
  mail.letter = std::move(letters_.front());
  letters_.pop_front();
  bytes_ -= bytes_of(*mail.letter);
  return mail;
}

void SseMailbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  letters_.clear();
  missed_.clear();
  replaced_.clear();
  bytes_ = 0;
}

}  // namespace sluice::http
