// Reader connections beside the writer.
//
// A reader sees everything committed before it began and never waits for the writer. Each of a few threads uses one
// connection at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "adapters/sql/driver/database.h"
#include "adapters/sqlite/connection.h"
#include "runtime/clock.h"
#include "runtime/offload.h"

namespace sluice::sqlite {

// Safe to share between threads.
class Readers {
 public:
  // `count` connections; at most `max_waiting` reads wait for one, more are refused with Overloaded. A read that runs
  // for `time_limit` ends with DeadlineExceeded.
  Readers(const std::filesystem::path& file, unsigned count, size_t max_waiting, Duration time_limit,
          const Clock& clock);

  Task<sql::Rows> read(sql::Statement statement, sql::Params params);

 private:
  sql::Rows read_here(sql::Statement statement, const sql::Params& params);

  const Clock& clock_;
  const Duration time_limit_;
  std::mutex mutex_;
  // As many as there are threads, so that a thread always finds one.
  std::vector<std::unique_ptr<Connection>> free_;
  Offload threads_;
};

}  // namespace sluice::sqlite
