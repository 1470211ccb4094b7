#include "adapters/sqlite/sqlite_database.h"

#include <atomic>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "adapters/sqlite/checkpointer.h"
#include "adapters/sqlite/log/log_appender.h"
#include "adapters/sqlite/owner_lock.h"
#include "adapters/sqlite/readers.h"
#include "adapters/sqlite/sqlite_journal.h"
#include "adapters/sqlite/write_queue.h"
#include "adapters/sqlite/writer.h"
#include "runtime/private_files.h"

namespace sluice::sqlite {
namespace {

// How long the writer waits for a lock of another connection: the checkpointer, or the sqlite3 tool.
constexpr Duration writer_patience = 5s;

void run_here(asio::io_context& here, Task<> task) {
  std::exception_ptr failed;
  asio::co_spawn(here, std::move(task), [&failed](std::exception_ptr error) { failed = std::move(error); });
  here.restart();
  here.run();
  if (failed) std::rethrow_exception(failed);
}

Task<> bring_up_to_date(sql::Database& database, sql::MigrationSet schema) {
  co_await sql::migrate(database, std::move(schema));
}

// SQLite gives the files beside the database the mode of the database.
void keep_private(const std::filesystem::path& file) {
  try {
    make_private_file(file);
    for (const char* suffix : {"", "-wal", "-shm"}) close_to_others(file.string() + suffix);
  } catch (const std::system_error& error) {
    throw EngineUnavailable("sqlite", error.what());
  }
}

// SQLite syncs the file; syncing the folder keeps the file's name.
void keep_name(const std::filesystem::path& folder) {
  try {
    sync_folder(folder);
  } catch (const std::system_error& error) {
    throw EngineUnavailable("sqlite", error.what());
  }
}

// Remembers that a commit failed, until one has reached the disk.
class DiskWatch : public CommitRider {
 public:
  void before_commit(Connection&, const Writes&) override {}
  void committed() override {}  // maybe of nothing
  void commit_failed(std::string_view) override { failing_ = true; }

  void reached_disk() { failing_ = false; }
  bool failing() const { return failing_; }

 private:
  std::atomic<bool> failing_ = false;
};

}  // namespace

struct SqliteDatabase::Parts {
  Parts(const SqliteOptions& options, const Clock& clock)
      : file(options.folder / "sluice.db"),
        queue(std::make_shared<WriteQueue>(options.max_unanswered_writes)),
        journal(*queue, options.journal_snapshot_bytes),
        appender(*queue) {
    own(options);
    auto connection = std::make_unique<Connection>(file, Connection::Use::write, writer_patience);
    if (lock) {
      checkpointer = std::make_unique<Checkpointer>(file, *queue);
      connection->on_commit([this](int pages) {
        disk.reached_disk();
        checkpointer->note_pages(pages);
      });
    }
    readers =
        std::make_unique<Readers>(file, options.readers, options.max_waiting_reads, options.read_time_limit, clock);
    std::vector<CommitRider*> riders{&appender};
    if (lock) riders.insert(riders.end(), {&disk, &journal});
    writer = std::make_unique<Writer>(std::move(connection), *queue, std::move(riders), clock);
  }
  ~Parts() {
    if (writer) queue->stop();
    writer.reset();
  }

  void own(const SqliteOptions& options) {
    try {
      lock.emplace(options.folder);
    } catch (const EngineUnavailable&) {
      if (!options.may_visit || !std::filesystem::exists(file)) throw;
    }
    if (lock) keep_private(file);
  }

  std::optional<OwnerLock> lock;  // none: a visitor
  std::filesystem::path file;
  // Runs the migration and the reading of the journal. Like every caller's, it outlives the writer, which may still be
  // returning from a post when the last answer has been taken.
  asio::io_context opening;
  std::shared_ptr<WriteQueue> queue;
  SqliteJournal journal;
  LogAppender appender;
  DiskWatch disk;
  std::once_flag journal_loaded;
  std::unique_ptr<Checkpointer> checkpointer;
  std::unique_ptr<Readers> readers;
  std::unique_ptr<Writer> writer;
};

SqliteDatabase::SqliteDatabase(const SqliteOptions& options, const Clock& clock, const sql::MigrationSet& schema)
    : parts_(std::make_unique<Parts>(options, clock)) {
  if (!parts_->lock) return;
  run_here(parts_->opening, bring_up_to_date(*this, schema));
  keep_name(options.folder);
}

SqliteDatabase::~SqliteDatabase() = default;

coordination::Journal& SqliteDatabase::journal() {
  check(parts_->lock.has_value(), "a process that does not own the database uses its journal");
  std::call_once(parts_->journal_loaded, [this] { run_here(parts_->opening, parts_->journal.load(*this)); });
  return parts_->journal;
}

LogAppender& SqliteDatabase::log_appender() {
  return parts_->appender;
}

Task<> SqliteDatabase::reach() {
  // The one write that changes nothing and is written nevertheless.
  if (parts_->disk.failing()) co_await write("PRAGMA application_id = 0");
  co_await read("SELECT 1");
}

Task<sql::Rows> SqliteDatabase::read(sql::Statement statement, sql::Params params) {
  return parts_->readers->read(statement, std::move(params));
}

Task<sql::Rows> SqliteDatabase::write(sql::Statement statement, sql::Params params) {
  Write write{.statement = statement, .params = &params};
  co_await parts_->queue->submit(write);
  write.error.rethrow();
  co_return std::move(write.rows);
}

Task<> SqliteDatabase::run(const Body& body) {
  Write write{.body = &body};
  co_await parts_->queue->submit(write);
  write.error.rethrow();
}

}  // namespace sluice::sqlite
