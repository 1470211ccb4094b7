// Copies the WAL back into the file, concurrently with the writer, and restarts the WAL.
//
// A checkpoint costs two more syncs and a copy; on the writer thread all writes would wait for it. Here it has its own
// thread and connection: every `step` pages a passive checkpoint copies nearly everything without making anyone wait.
// Under steady writes it never finds the WAL at rest, so that the WAL would grow without end: then the writer is held
// for the moment it takes to copy the rest.
//
// The WAL's file stays as long as it is and is written over. To sync a file that grows costs its file system a journal
// entry of its own; without it a commit of 64 small rows takes half of the time (docs/benchmarks.md).
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "adapters/sqlite/connection.h"
#include "adapters/sqlite/write_queue.h"

namespace sluice::sqlite {

class Checkpointer {
 public:
  Checkpointer(const std::filesystem::path& file, WriteQueue& queue);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // How many pages the WAL holds now. Called by the writer after every commit; cheap.
  void note_pages(int pages);

 private:
  // 4 MiB, about SQLite's own default. With more a young file grows for longer, and grows slowly.
  static constexpr int step = 1024;

  void serve();
  void checkpoint();

  Connection connection_;
  WriteQueue& queue_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int pages_ = 0;
  // Pages in the WAL at the last checkpoint: the next comes `step` later.
  int pages_before_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice::sqlite
