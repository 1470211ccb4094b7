// One connection to an SQLite file: statements in, rows out.
//
// Prepared statements are kept by their text. `now()` gives the time that was set for the running transaction. Used by
// one thread at a time; the threads that share a file each have their own.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "adapters/sql/driver/value.h"
#include "base/time.h"
#include "runtime/deadline.h"

struct sqlite3;
struct sqlite3_context;
struct sqlite3_stmt;
struct sqlite3_value;

namespace sluice::sqlite {

class Connection {
 public:
  enum class Use { read, write };

  // Opens (for writing: creates) the file, in WAL mode and with synchronous=FULL: a commit is on the disk when it
  // returns. Checkpoints are never made on the side; see Checkpointer. Throws EngineUnavailable.
  Connection(const std::filesystem::path& file, Use use, Duration busy_timeout);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs one statement to its end. Throws ConstraintViolation, StatementError or EngineUnavailable; a statement that
  // failed has undone itself, and if `in_transaction` is false afterwards, its whole transaction.
  sql::Rows execute(std::string_view text, const sql::Params& params = {});

  bool in_transaction() const;
  void set_now(Time now) { now_ = now; }
  // From now on a statement that still runs at `deadline` ends with DeadlineExceeded.
  void set_deadline(const Clock& clock, Deadline deadline);

  // After every commit `hook` gets the number of pages now in the WAL.
  void on_commit(std::function<void(int)> hook);

  enum class Checkpoint { passive, restart };
  // Copies the WAL back into the file. Passive never waits; restart waits for writer and readers up to the busy
  // timeout, after which the next commit overwrites the WAL from its start. Concurrent users only make it copy less.
  void checkpoint(Checkpoint mode);

 private:
  struct Prepared;

  Prepared& prepare(std::string_view text);
  static void now_function(sqlite3_context* context, int count, sqlite3_value** arguments);
  static int past_deadline(void* self);
  static int commit_hook(void* self, sqlite3* connection, const char* database, int pages);

  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  sqlite3* handle_ = nullptr;
  Time now_{};
  const Clock* clock_ = nullptr;
  Deadline deadline_;
  std::function<void(int)> on_commit_;
  std::unordered_map<std::string, std::unique_ptr<Prepared>, TextHash, std::equal_to<>> prepared_;
};

}  // namespace sluice::sqlite
