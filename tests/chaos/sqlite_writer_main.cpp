// Writes rows as fast as it can and says so: a number on standard output means that its row was acknowledged. Killed by
// sqlite_kill_test.
//
//   sqlite_writer FOLDER FIRST_NUMBER ROW_BYTES
#include <cstdio>
#include <cstdlib>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <unistd.h>

#include "adapters/sqlite/sqlite_database.h"
#include "base/check.h"
#include "runtime/system_clock.h"
#include "tests/chaos/sqlite_writer_schema.h"

namespace sluice::test {
namespace {

constexpr int callers = 64;

sql::TxTask<> write_pair(sql::Tx& tx, int64_t number, std::string body) {
  sql::Params one(number, std::move(body));
  co_await tx.execute("INSERT INTO written (number, body) VALUES ($1, $2)", std::move(one));
  sql::Params two(number);
  co_await tx.execute("INSERT INTO paired (number) VALUES ($1)", std::move(two));
}

// Even numbers are single statements, odd ones transactions of two rows.
Task<> write_for_ever(sql::Database& database, int64_t& next, std::string body) {
  while (true) {
    const int64_t number = next++;
    if (number % 2 == 0) {
      sql::Params params(number, body);
      co_await database.write("INSERT INTO written (number, body) VALUES ($1, $2)", std::move(params));
    } else {
      co_await database.transact(write_pair, number, body);
    }
    const std::string line = std::to_string(number) + "\n";
    check(write(STDOUT_FILENO, line.data(), line.size()) == static_cast<ssize_t>(line.size()), "acknowledging");
  }
}

void write_until_killed(const char* folder, int64_t first, size_t row_bytes) {
  const SystemClock clock;
  sqlite::SqliteDatabase database({.folder = folder}, clock, writer_schema());
  asio::io_context io;
  for (int i = 0; i < callers; ++i) {
    asio::co_spawn(io, write_for_ever(database, first, std::string(row_bytes, 'x')),
                   [](const std::exception_ptr& error) { std::rethrow_exception(error); });
  }
  io.run();
}

}  // namespace
}  // namespace sluice::test

int main(int count, char** arguments) {
  if (count != 4) {
    std::fputs("usage: sqlite_writer FOLDER FIRST_NUMBER ROW_BYTES\n", stderr);
    return 2;
  }
  sluice::test::write_until_killed(arguments[1], std::atoll(arguments[2]), std::strtoul(arguments[3], nullptr, 10));
}
