// How a contract suite gets a database.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "adapters/sql/driver/database.h"
#include "tests/contract/task_fixture.h"

namespace sluice::test {

// A database opened for one test.
class OpenDatabase {
 public:
  virtual ~OpenDatabase() = default;
  virtual sql::Database& database() = 0;
  // Before it is destroyed; everything it does is over afterwards.
  virtual Task<> close() { co_return; }
};

// An engine under test. Its tables may outlast a test: suites drop them first.
struct DatabaseEngine {
  std::string name;
  // For callers on `io` and elsewhere; calls beyond `max_waiting` get Overloaded.
  std::function<std::unique_ptr<OpenDatabase>(asio::io_context& io, size_t max_waiting)> open;
  // The schema that unqualified tables are in.
  std::string schema = "main";

  friend void PrintTo(const DatabaseEngine& engine, std::ostream* out) { *out << engine.name; }
};

class DatabaseFixture : public TaskFixture, public testing::WithParamInterface<DatabaseEngine> {
 protected:
  void SetUp() override { open(1000); }
  void TearDown() override { close(); }

  void open(size_t max_waiting) { open_ = GetParam().open(io_, max_waiting); }
  void close() {
    if (!open_) return;
    run(open_->close());
    open_.reset();
  }
  sql::Database& database() { return open_->database(); }

 private:
  std::unique_ptr<OpenDatabase> open_;
};

}  // namespace sluice::test
