// Properties of the embedded database beyond the contract: its folder, its commit groups, its WAL, its failures.
#include <csignal>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/sqlite/sqlite_database.h"
#include "runtime/system_clock.h"
#include "tests/contract/database_fixture.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

using sql::Params;
using sql::Statement;
using testing::HasSubstr;

class SqliteEngine : public TaskFixture {
 protected:
  void open(sqlite::SqliteOptions options = {}) {
    database_.reset();
    options.folder = folder_.path();
    database_ = std::make_unique<sqlite::SqliteDatabase>(options, clock_);
  }
  void write(Statement statement, Params params = {}) { run(database_->write(statement, std::move(params))); }
  int64_t count(Statement statement) { return run(database_->read(statement)).one().integer(0); }

  TemporaryFolder folder_;
  SystemClock clock_;
  std::unique_ptr<sqlite::SqliteDatabase> database_;
};

TEST_F(SqliteEngine, opening_brings_the_file_up_to_date) {
  open();
  EXPECT_EQ(count("SELECT count(*) FROM api_keys"), 0);
  open();
  EXPECT_EQ(count("SELECT count(*) FROM schema_migrations"),
            static_cast<int64_t>(sqlite::migrations().front().migrations.size()));
}

TEST_F(SqliteEngine, its_folder_and_files_are_for_their_owner_only) {
  const mode_t usual = ::umask(0);
  const std::filesystem::path data = folder_ / "data";
  const sqlite::SqliteDatabase database({.folder = data}, clock_);
  ::umask(usual);
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(data).permissions(), perms::owner_all);
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data)) {
    EXPECT_EQ(entry.status().permissions(), perms::owner_read | perms::owner_write) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 4U) << "the lock, the database, its WAL and its shared memory";
}

TEST_F(SqliteEngine, a_second_owner_is_refused_in_one_sentence) {
  open();
  try {
    const sqlite::SqliteDatabase second({.folder = folder_.path()}, clock_);
    FAIL() << "not refused";
  } catch (const EngineUnavailable& refused) {
    EXPECT_FALSE(refused.retryable());
    EXPECT_EQ(refused.what(),
              fmt::format("sqlite: the data folder {} is in use by another Sluice (process {}); stop it, or use "
                          "another folder",
                          folder_.path().string(), getpid()));
  }
}

TEST_F(SqliteEngine, a_read_cannot_write) {
  open();
  EXPECT_THROW(run(database_->read("CREATE TABLE t (a)")), sql::StatementError);
}

constexpr sql::Statement endless =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

TEST_F(SqliteEngine, a_read_that_never_ends_is_ended) {
  open({.folder = {}, .read_time_limit = 200ms});
  EXPECT_THROW(run(database_->read(endless)), DeadlineExceeded);
  EXPECT_EQ(count("SELECT count(*) FROM api_keys"), 0);
}

TEST_F(SqliteEngine, reads_beyond_the_bound_are_refused) {
  open({.folder = {}, .readers = 1, .max_waiting_reads = 2, .read_time_limit = 3s});
  std::vector<Task<sql::Rows>> reads;
  reads.push_back(database_->read(endless));  // holds the only reader until its time is over
  for (int i = 0; i < 100; ++i) reads.push_back(database_->read("SELECT count(*) FROM api_keys"));
  auto outcomes = run_all(std::move(reads));
  EXPECT_THROW(std::rethrow_exception(outcomes[0].error), DeadlineExceeded);
  size_t refused = 0;
  for (size_t i = 1; i < outcomes.size(); ++i) {
    if (!outcomes[i].error) continue;
    EXPECT_THROW(std::rethrow_exception(outcomes[i].error), Overloaded);
    ++refused;
  }
  EXPECT_GT(refused, 0u);
  EXPECT_LT(refused, 100u);
}

sql::TxTask<> insert_note(sql::Tx& tx, std::string text) {
  Params params(std::move(text));
  co_await tx.execute("INSERT INTO notes (body) VALUES ($1)", std::move(params));
}

TEST_F(SqliteEngine, a_violation_found_only_at_the_commit_fails_alone) {
  open();
  write("CREATE TABLE notes (body TEXT NOT NULL PRIMARY KEY)");
  write("CREATE TABLE marks (note TEXT REFERENCES notes (body) DEFERRABLE INITIALLY DEFERRED)");
  std::vector<Task<>> transactions;
  for (int i = 0; i < 10; ++i) transactions.push_back(database_->transact(insert_note, "note " + std::to_string(i)));
  std::vector<Task<sql::Rows>> writes;
  writes.push_back(database_->write("INSERT INTO marks VALUES ('nothing')"));
  size_t failed = 0;
  asio::co_spawn(io_, std::move(writes[0]), [&failed](const std::exception_ptr& error, const sql::Rows&) {
    EXPECT_THROW(std::rethrow_exception(error), sql::ConstraintViolation);
    ++failed;
  });
  for (const auto& outcome : run_all(std::move(transactions))) EXPECT_FALSE(outcome.error);
  EXPECT_EQ(failed, 1u);
  EXPECT_EQ(count("SELECT count(*) FROM notes"), 10);
  EXPECT_EQ(count("SELECT count(*) FROM marks"), 0);
}

TEST_F(SqliteEngine, a_write_too_big_for_the_disk_fails_alone) {
  open();
  write("CREATE TABLE notes (body TEXT NOT NULL)");
  write("PRAGMA max_page_count = 1000");
  std::vector<Task<>> transactions;
  for (int i = 0; i < 10; ++i) {
    transactions.push_back(database_->transact(insert_note, std::string(i == 4 ? 8'000'000 : 100, 'x')));
  }
  const auto outcomes = run_all(std::move(transactions));
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(static_cast<bool>(outcomes[i].error), i == 4) << i;
  EXPECT_THROW(std::rethrow_exception(outcomes[4].error), EngineUnavailable);
  EXPECT_EQ(count("SELECT count(*) FROM notes"), 9);
}

// No file of this process can grow beyond its size at the beginning: a disk that fails.
class NoFileGrows {
 public:
  explicit NoFileGrows(const std::filesystem::path& file) {
    previous_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &previous_);
    rlimit now = previous_;
    now.rlim_cur = std::filesystem::file_size(file);
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~NoFileGrows() {
    setrlimit(RLIMIT_FSIZE, &previous_);
    std::signal(SIGXFSZ, previous_handler_);
  }
  NoFileGrows(const NoFileGrows&) = delete;
  NoFileGrows& operator=(const NoFileGrows&) = delete;

 private:
  void (*previous_handler_)(int);
  rlimit previous_;
};

TEST_F(SqliteEngine, a_failed_commit_acknowledges_nothing_and_the_next_one_works) {
  open();
  write("CREATE TABLE notes (body TEXT NOT NULL)");
  {
    const NoFileGrows broken(folder_ / "sluice.db-wal");
    std::vector<Task<>> transactions;
    for (int i = 0; i < 3; ++i) transactions.push_back(database_->transact(insert_note, "note"));
    for (const auto& outcome : run_all(std::move(transactions))) {
      ASSERT_TRUE(outcome.error);
      try {
        std::rethrow_exception(outcome.error);
      } catch (const EngineUnavailable& failed) {
        EXPECT_FALSE(failed.retryable());
        EXPECT_THAT(failed.what(), HasSubstr("the commit failed"));
      }
    }
  }
  EXPECT_EQ(count("SELECT count(*) FROM notes"), 0);
  run(database_->transact(insert_note, "note"));
  EXPECT_EQ(count("SELECT count(*) FROM notes"), 1);
}

TEST_F(SqliteEngine, is_not_reached_while_no_write_reaches_the_disk) {
  open();
  write("CREATE TABLE notes (body TEXT NOT NULL)");
  run(database_->reach());
  {
    const NoFileGrows full(folder_ / "sluice.db-wal");
    EXPECT_THROW(run(database_->transact(insert_note, "note")), EngineUnavailable);
    EXPECT_THROW(run(database_->reach()), EngineUnavailable);
    write("DELETE FROM notes WHERE body = 'none'");  // a commit that writes nothing
    EXPECT_THROW(run(database_->reach()), EngineUnavailable);
  }
  run(database_->reach());
  run(database_->transact(insert_note, "note"));
  run(database_->reach());
}

TEST_F(SqliteEngine, the_log_begins_anew_under_steady_writes) {
  open();
  write("CREATE TABLE blobs (data BLOB)");
  uintmax_t size = 0;
  bool written_over = false;
  for (int i = 0; i < 400 && !written_over; ++i) {
    write("INSERT INTO blobs VALUES (zeroblob(1000000))");
    const uintmax_t now = std::filesystem::file_size(folder_ / "sluice.db-wal");
    written_over = now <= size;
    size = now;
  }
  EXPECT_TRUE(written_over) << size;
}

}  // namespace
}  // namespace sluice::test
