// The journal in the embedded file.
//
// All records that are pending when the writer is about to commit become one row of that commit, which any caller may
// have caused. A caller that waits for a record takes part in the next group without a statement. So a change costs a
// few bytes in a blob, not a row and a savepoint.
//
// Once the rows have outgrown the state twice (and `snapshot_bytes`), the writer asks every part for a snapshot and
// drops them, inside the same commit.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "adapters/sqlite/commit_rider.h"
#include "adapters/sqlite/write_queue.h"
#include "coordination/journal.h"
#include "coordination/journal_record.h"

namespace sluice::sqlite {

class SqliteJournal final : public coordination::Journal, public CommitRider {
 public:
  using Number = coordination::JournalNumber;

  SqliteJournal(WriteQueue& queue, size_t snapshot_bytes) : queue_(queue), snapshot_bytes_(snapshot_bytes) {}

  // Loads the file's content; once, before any part attaches.
  Task<> load(sql::Database& database);

  void attach(coordination::Journaled& part) override;
  void detach(coordination::Journaled& part) override;
  void refuse_if_full() const override;
  Number append(const coordination::Journaled& part, std::string_view record) override;
  Task<> durable(Number number) override;

  void before_commit(Connection& connection, const Writes& group) override;
  void committed() override;
  void commit_failed(std::string_view reason) override;

 private:
  struct Part {
    coordination::Journaled* attached = nullptr;
    // Its records while no part is attached.
    std::vector<std::string> records{};
  };

  void take_snapshot(const std::string& name, std::string_view records);
  void take_row(Number last, std::string_view records, const std::map<std::string, Number>& up_to);
  bool outgrown() const;
  size_t write_snapshot(Connection& connection);

  WriteQueue& queue_;
  const size_t snapshot_bytes_;
  std::atomic<Number> durable_{0};

  // Taken before a part's own lock, never after it.
  std::mutex parts_mutex_;
  std::map<std::string, Part, std::less<>> parts_;

  // Taken under a part's own lock.
  std::mutex pending_mutex_;
  coordination::RecordWriter pending_;
  Number last_ = 0;

  // The writer thread's: the content of the running commit, and the size in the file.
  coordination::RecordWriter under_way_;
  Number under_way_last_ = 0;
  std::optional<size_t> snapshot_under_way_;
  size_t rows_bytes_ = 0;
  size_t state_bytes_ = 0;
};

}  // namespace sluice::sqlite
