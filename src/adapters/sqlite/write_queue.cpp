#include "adapters/sqlite/write_queue.h"

#include <algorithm>

#include <boost/asio/post.hpp>

namespace sluice::sqlite {
namespace {

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
    // A busy writer looks by itself. Each thread schedules its own wakeup, so that none waits for another's slow round.
    if (!idle_ || std::ranges::find(scheduled_, me) != scheduled_.end()) return;
    scheduled_.push_back(me);
  }
  asio::post(executor, [self = shared_from_this(), me] { self->wake(me); });
}

void WriteQueue::wake(std::thread::id scheduled_by) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(scheduled_, scheduled_by);
    woken_ = true;
  }
  changed_.notify_all();
}

Writes WriteQueue::next(const Writes& finished) {
  Writes group;
  {
    // Taken before anybody is answered: a write that an answer brings about belongs to the next full round, not to a
    // group with the first few of its kind.
    const std::lock_guard lock(mutex_);
    if (!held_) group.swap(waiting_);
    idle_ = group.empty();
  }
  answer(finished);
  if (!group.empty()) return group;

  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || (woken_ && !held_ && !waiting_.empty()); });
  idle_ = false;
  woken_ = false;
  group.swap(waiting_);
  return group;
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
    if (!held) woken_ = true;
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
