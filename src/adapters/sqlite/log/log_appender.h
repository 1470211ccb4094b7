// Puts messages into the embedded log, all of a commit group in one go.
//
// The messages of a commit group become one block for each partition (adapters/sql/messaging/log_block.h) in their
// commit.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "adapters/sqlite/commit_rider.h"
#include "adapters/sqlite/write_queue.h"

namespace sluice::sqlite {

// A message on its way into its block.
struct LogEntry {
  int64_t topic = 0;
  int32_t partition = 0;
  std::string record{};
  int64_t offset = 0;  // once it is stored
};

// Safe to share between threads.
class LogAppender final : public CommitRider {
 public:
  explicit LogAppender(WriteQueue& queue) : queue_(queue) {}

  // Entries that wait for the disk. Throws Overloaded if too many bytes do.
  class Waiting {
   public:
    Waiting(LogAppender& appender, const std::vector<LogEntry>& entries);
    ~Waiting() { appender_.bytes_.fetch_sub(bytes_, std::memory_order_relaxed); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    LogAppender& appender_;
    size_t bytes_ = 0;
  };

  // To be awaited: stores all of the write's entries or none, in order, and sets their offsets. If the write's error is
  // EngineUnavailable they may be stored nevertheless, and before anything stored later.
  auto submit(Write& write) { return queue_.submit(write); }

  void before_commit(Connection& connection, const Writes& group) override;
  void committed() override;
  void commit_failed(std::string_view) override {}

 private:
  WriteQueue& queue_;
  std::atomic<size_t> bytes_ = 0;
  // The writer thread's: the content of the running commit.
  size_t messages_ = 0;
  size_t blocks_ = 0;
};

}  // namespace sluice::sqlite
