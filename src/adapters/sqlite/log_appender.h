// Puts messages into the embedded log, all that are pending in one go.
//
// What is pending when the writer is about to commit becomes one block for each partition (adapters/sql/log_block.h) in
// that commit, whoever's commit it is. Whoever published takes part in the next group without a statement of its own.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adapters/sqlite/commit_rider.h"
#include "adapters/sqlite/write_queue.h"

namespace sluice::sqlite {

// Safe to share between threads.
class LogAppender final : public CommitRider {
 public:
  explicit LogAppender(WriteQueue& queue) : queue_(queue) {}

  struct Entry {
    int64_t topic = 0;
    int32_t partition = 0;
    std::string record{};
    int64_t offset = 0;  // once it is stored
  };

  // An entry on its way to its block.
  struct Placed {
    int64_t topic = 0;
    int32_t partition = 0;
    size_t order = 0;
    Entry* entry = nullptr;
  };

  // Stores all of them or none, in their order, and returns them with their offsets. Throws EngineUnavailable, after
  // which they may be stored nevertheless, and before whatever is appended later.
  Task<std::vector<Entry>> append(std::vector<Entry> entries);

  void before_commit(Connection& connection) override;
  void committed() override;
  void commit_failed(std::string_view reason) override;

 private:
  struct Append {
    enum class State { waiting, stored, failed };
    std::vector<Entry> entries;
    std::atomic<State> state = State::waiting;
  };
  // Shared with the publisher, who may be told of a failure before the writer has looked at its entries.
  using Appends = std::vector<std::shared_ptr<Append>>;

  std::vector<Placed> by_partition();
  void end_all(Append::State state);

  WriteQueue& queue_;
  std::mutex mutex_;
  Appends pending_;
  std::atomic<size_t> bytes_ = 0;  // pending and under way
  // The writer thread's: what is in the commit under way. A group that is rolled back because of another member leaves
  // it for the next.
  Appends under_way_;
  size_t blocks_ = 0;  // of them
};

}  // namespace sluice::sqlite
