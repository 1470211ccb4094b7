// Settings of the embedded database.
#pragma once

#include <cstddef>
#include <filesystem>

#include "base/time.h"
#include "runtime/config_fwd.h"

namespace sluice::sqlite {

struct SqliteOptions {
  // Holds sluice.db with its WAL, and owner.lock. Made if it is missing.
  std::filesystem::path folder;
  // Where another process owns the folder, work beside it instead of being refused: for the command line next to a
  // running server. A visitor writes under the file's own locks, which is safe for records, and neither migrates nor
  // checkpoints.
  bool may_visit = false;
  unsigned readers = 4;
  // Writes that are queued or being committed; one more is refused with Overloaded.
  size_t max_unanswered_writes = 10'000;
  // Reads that wait for one of the readers; one more is refused with Overloaded.
  size_t max_waiting_reads = 10'000;
  // A read that takes longer ends with DeadlineExceeded, so that a few bad ones cannot hold all readers.
  Duration read_time_limit = 10s;
  // The journal is replaced by a snapshot after about this size.
  size_t journal_snapshot_bytes = 8 << 20;

  // The folder and how it is opened are the program's to say, not the operator's.
  static void describe(config::Section<SqliteOptions>& section);
};

}  // namespace sluice::sqlite
