// The writer thread: everything that is queued in one commit.
//
// Each write of a commit group succeeds or fails alone: a transaction's body runs to its end inside its own savepoint,
// a single statement undoes itself. A group that cannot commit because of one of its members (a deferred constraint, a
// transaction too big for the disk) is run again one by one, so that each fails for its own reasons.
//
// When the commit itself fails (disk full, I/O error), the group is rolled back, all its callers get EngineUnavailable,
// not retryable, and nothing was acknowledged. The process continues, unless the journal of in-memory state was part of
// the commit (SqliteJournal): then memory is ahead of the disk and the process has to end. Otherwise memory holds
// nothing, readers never saw the group, and the next commit overwrites its remains in the WAL. Not retryable, because
// after a crash just then the whole group may still be in the WAL.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "adapters/sqlite/commit_rider.h"
#include "adapters/sqlite/connection.h"
#include "adapters/sqlite/write_queue.h"
#include "runtime/clock.h"

namespace sluice::sqlite {

class Writer {
 public:
  // `riders` go along with every commit, in this order.
  Writer(std::unique_ptr<Connection> connection, WriteQueue& queue, std::vector<CommitRider*> riders,
         const Clock& clock);
  // Ends when the queue, stopped, is empty.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

 private:
  // The result of a commit group as a whole; the writes have their own.
  enum class GroupEnd { answered, undone_by_member };

  void serve();
  // Why a transaction could not begin or commit. Each of its writes gets an exception of its own.
  struct Refusal {
    std::string reason;
    EngineUnavailable::Retryable retryable = EngineUnavailable::Retryable::no;

    void fail(Write& write) const;
  };
  std::optional<Refusal> begin();
  // In a transaction that was begun, which is ended.
  GroupEnd commit_group(const Writes& group);
  void commit_singly(const Writes& group);
  void run(Write& write);
  void run_body(Write& write);
  void commit(const Writes& group);
  void roll_back();

  std::unique_ptr<Connection> connection_;
  WriteQueue& queue_;
  const std::vector<CommitRider*> riders_;
  const Clock& clock_;
  std::thread thread_;
};

}  // namespace sluice::sqlite
