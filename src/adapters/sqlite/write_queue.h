// The queue before the writer thread, and the way of its answers.
//
// Group commit depends on the content of the queue when the writer looks. Two things keep groups whole: an idle writer
// takes them at the end of the event loop's round in which the first write came, so that the other writes of that round
// are included; and all answers for one executor are posted together, so that callers that write again do so in one
// round. The writer is woken at the beginning of that round: it wakes up and gets ready while the round continues.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "adapters/sql/driver/database.h"
#include "runtime/waiting_caller.h"

namespace sluice::sqlite {

struct LogEntry;

// One write under way. Lives in the frame of the coroutine that waits for it.
struct Write {
  // One statement with its parameters, the body of a transaction, or messages for the log. With none of them it only
  // takes part in a commit, to learn when the data added to it is on the disk.
  sql::Statement statement{""};
  const sql::Params* params = nullptr;
  const sql::Database::Body* body = nullptr;
  std::vector<LogEntry>* messages = nullptr;

  bool only_takes_part() const { return params == nullptr && body == nullptr && messages == nullptr; }

  sql::Rows rows{};
  CallError error{};

  WaitingCaller caller{};
};
using Writes = std::vector<Write*>;

// Safe to share between threads; `next` and `take` are the writer's alone. Shared ownership, because a wakeup on its
// way may outlive the database.
class WriteQueue : public std::enable_shared_from_this<WriteQueue> {
 public:
  // At most `max_unanswered` writes are waiting or being committed, but for threads that ask at the same moment; more
  // are refused.
  explicit WriteQueue(size_t max_unanswered) : max_unanswered_(max_unanswered) {}

  // To be awaited: returns on the caller's executor when the write has been answered; its error is the caller's to
  // throw. Throws Overloaded when full, unless the write only takes part: the data it waits for was accepted before.
  // Cancelling does not undo a write.
  auto submit(Write& write) {
    if (full() && !write.only_takes_part()) throw Overloaded("sqlite");
    return until_resumed([this, &write](WaitingCaller caller) {
      write.caller = std::move(caller);
      push(write);
    });
  }
  bool full() const { return unanswered_.load(std::memory_order_relaxed) >= max_unanswered_; }

  // Answers `finished`, then waits for writes to come. False: stopped, and none is left.
  bool next(const Writes& finished);
  // After `next`: the commit group, once it is whole.
  Writes take();

  // While held, `next` keeps waiting.
  void hold(bool held);
  void stop();

 private:
  void push(Write& write);
  void end_round(std::thread::id of);
  void answer(const Writes& finished);

  const size_t max_unanswered_;
  std::atomic<size_t> unanswered_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  Writes waiting_;
  // Threads that will tell of the end of their round.
  std::vector<std::thread::id> rounds_;
  std::atomic<bool> round_ended_{false};  // since the last group
  bool idle_ = false;
  bool held_ = false;
  bool stopping_ = false;

  Writes taken_;  // the writer's: a group that is whole already
};

}  // namespace sluice::sqlite
