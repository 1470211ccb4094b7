#include "adapters/sqlite/write_queue.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

namespace sluice::sqlite {
namespace {

// About a tenth of a millisecond: longer rounds are slept through.
constexpr int most_looks = 200;

}  // namespace

void WriteQueue::push(Write& write) {
  const std::thread::id me = std::this_thread::get_id();
  // The writer may take and answer the write as soon as the mutex is free.
  const Executor executor = write.caller.executor;
  unanswered_.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(&write);
    // A busy writer looks by itself. Each thread tells of its own round, so that none waits for another's slow one.
    if (!idle_ || std::ranges::find(rounds_, me) != rounds_.end()) return;
    rounds_.push_back(me);
  }
  changed_.notify_all();
  asio::post(executor, [self = shared_from_this(), me] { self->end_round(me); });
}

void WriteQueue::end_round(std::thread::id of) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(rounds_, of);
    round_ended_ = true;
  }
  changed_.notify_all();
}

bool WriteQueue::next(const Writes& finished) {
  {
    // Taken before any caller is answered: a write caused by an answer belongs to the next full round, not to a group
    // with the first few of its kind.
    const std::lock_guard lock(mutex_);
    if (!held_) taken_.swap(waiting_);
    idle_ = taken_.empty();
    // While held: the rounds of the waiting writes have ended without a signal.
    round_ended_ = !waiting_.empty();
  }
  answer(finished);
  if (!taken_.empty()) return true;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || (!held_ && !waiting_.empty()); });
  return !waiting_.empty();
}

Writes WriteQueue::take() {
  if (!taken_.empty()) return std::exchange(taken_, {});
  // Going to sleep and waking up would take longer than the rest of most rounds.
  for (int look = 0; look < most_looks && !round_ended_; ++look) std::this_thread::yield();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || round_ended_; });
  idle_ = false;
  return std::exchange(waiting_, {});
}

void WriteQueue::answer(const Writes& finished) {
  if (finished.empty()) return;
  unanswered_.fetch_sub(finished.size(), std::memory_order_relaxed);
  std::vector<WaitingCaller> callers;
  callers.reserve(finished.size());
  for (Write* write : finished) callers.push_back(std::move(write->caller));
  resume_all(std::move(callers));
}

void WriteQueue::hold(bool held) {
  {
    const std::lock_guard lock(mutex_);
    held_ = held;
  }
  changed_.notify_all();
}

void WriteQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

}  // namespace sluice::sqlite
