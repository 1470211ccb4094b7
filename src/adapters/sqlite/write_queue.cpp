#include "adapters/sqlite/write_queue.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

namespace sluice::sqlite {
namespace {

// About a tenth of a millisecond: longer rounds are slept through.
constexpr int most_looks = 200;

// Answers for one executor; run there.
struct Answers {
  Executor executor;
  std::vector<std::move_only_function<void()>> resumes;
  size_t next = 0;

  void operator()() {
    try {
      while (next < resumes.size()) resumes[next++]();
    } catch (...) {
      // One caller's exception leaves through the event loop; the others still get their answers.
      const Executor same = executor;
      asio::post(same, std::move(*this));
      throw;
    }
  }
};

}  // namespace

void WriteQueue::push(Write& write) {
  const std::thread::id me = std::this_thread::get_id();
  // The writer may take and answer the write as soon as the mutex is free.
  const Executor executor = write.executor;
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
    // Taken before anybody is answered: a write that an answer brings about belongs to the next full round, not to a
    // group with the first few of its kind.
    const std::lock_guard lock(mutex_);
    if (!held_) taken_.swap(waiting_);
    idle_ = taken_.empty();
    // While held: what waits came in rounds that nobody will tell of.
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
  std::vector<Answers> answers;
  for (Write* write : finished) {
    auto place = std::ranges::find(answers, write->executor, &Answers::executor);
    if (place == answers.end()) {
      answers.push_back({.executor = write->executor, .resumes = {}});
      place = std::prev(answers.end());
      place->resumes.reserve(finished.size());
    }
    place->resumes.push_back(std::move(write->resume));
  }
  for (Answers& each : answers) {
    const Executor executor = each.executor;
    asio::post(executor, std::move(each));
  }
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
