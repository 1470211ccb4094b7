// The lock of a memory adapter, and the journal behind it.
//
//   const JournalNumber seen = journal_.change([&] { token = try_acquire(key); });   // appends inside
//   co_await journal_.durable(seen);
//   co_return token;
//
// Without a journal, `durable` has nothing to wait for.
#pragma once

#include <mutex>

#include "coordination/journal.h"

namespace sluice::memory {

class JournalLink {
 public:
  using Number = coordination::JournalNumber;

  // The journal, if there is one, outlives the part.
  JournalLink(coordination::Journal* journal, coordination::Journaled& part) : journal_(journal), part_(part) {}

  // First and last thing the part does, in its constructor and destructor.
  void attach() {
    if (journal_ != nullptr) journal_->attach(part_);
  }
  void detach() {
    if (journal_ != nullptr) journal_->detach(part_);
  }

  // Runs `work` under the lock and returns the number of the last change, on which an answer given now depends. Throws
  // Overloaded, before any work, while too many wait for the disk.
  template <class Work>
  Number change(Work work) {
    if (journal_ != nullptr) journal_->refuse_if_full();
    return look(work);
  }
  // The same for work that changes nothing.
  template <class Work>
  Number look(Work work) const {
    const std::lock_guard lock(mutex_);
    work();
    return changed_;
  }
  // Under the lock.
  void append(std::string_view record) {
    if (journal_ != nullptr) changed_ = journal_->append(part_, record);
  }

  Task<> durable(Number seen) const {
    if (journal_ != nullptr) co_await journal_->durable(seen);
  }

 private:
  coordination::Journal* journal_;
  coordination::Journaled& part_;
  mutable std::mutex mutex_;
  Number changed_ = 0;
};

}  // namespace sluice::memory
