// bench_postgres: what batching brings.
//
// 64 callers insert single rows, each waiting for its commit. Ours: PostgresDatabase over 2 connections. Yardstick: the
// same inserts over 4 plain libpq connections, a statement and a commit each, on a thread each. Same private
// PostgreSQL, fsync on, in rotation; medians and their ratio.
#include <atomic>
#include <cstdio>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <libpq-fe.h>

#include "adapters/postgres/postgres_database.h"
#include "runtime/system_clock.h"
#include "tests/support/postgres_server.h"

namespace sluice {
namespace {

constexpr int callers = 64;
constexpr int plain_connections = 4;
constexpr int rounds = 5;
constexpr auto length = 2s;
constexpr const char* insert = "INSERT INTO bench_rows (id, words) VALUES ($1, $2)";

using SteadyClock = std::chrono::steady_clock;
std::atomic<int64_t> next_id = 0;

void die_of_errors(const std::exception_ptr& error) {
  if (error) std::rethrow_exception(error);
}

Task<> insert_until(sql::Database& database, SteadyClock::time_point end, int64_t& count) {
  while (SteadyClock::now() < end) {
    sql::Params params(++next_id, "a small row as stores write them");
    co_await database.write(insert, std::move(params));
    ++count;
  }
}

double ours(sql::Database& database) {
  asio::io_context io;
  int64_t count = 0;
  const auto start = SteadyClock::now();
  for (int i = 0; i < callers; ++i) {
    asio::co_spawn(io, insert_until(database, start + length, count), die_of_errors);
  }
  io.run();
  return static_cast<double>(count) / std::chrono::duration<double>(SteadyClock::now() - start).count();
}

class PlainConnection {
 public:
  explicit PlainConnection(const test::PostgresServer& server) {
    const std::string url = server.url();
    const char* names[] = {"dbname", "user", "password", nullptr};
    const char* values[] = {url.c_str(), server.user().c_str(), server.password().c_str(), nullptr};
    pg_ = PQconnectdbParams(names, values, 1);
  }
  ~PlainConnection() { PQfinish(pg_); }
  PlainConnection(const PlainConnection&) = delete;
  PlainConnection& operator=(const PlainConnection&) = delete;

  void insert_row(int64_t id) {
    const std::string text = std::to_string(id);
    const char* values[] = {text.c_str(), "a small row as stores write them"};
    PGresult* result = PQexecParams(pg_, insert, 2, nullptr, values, nullptr, nullptr, 1);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) throw std::runtime_error(PQerrorMessage(pg_));
    PQclear(result);
  }

 private:
  PGconn* pg_;
};

double plain(const test::PostgresServer& server) {
  std::vector<std::unique_ptr<PlainConnection>> connections;
  for (int i = 0; i < plain_connections; ++i) connections.push_back(std::make_unique<PlainConnection>(server));
  std::atomic<int64_t> count = 0;
  const auto start = SteadyClock::now();
  std::vector<std::jthread> threads;
  for (auto& connection : connections) {
    threads.emplace_back([&connection, &count, start] {
      for (; SteadyClock::now() < start + length; ++count) connection->insert_row(++next_id);
    });
  }
  threads.clear();
  return static_cast<double>(count) / std::chrono::duration<double>(SteadyClock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Task<> make_table(sql::Database& database) {
  co_await database.write("CREATE TABLE bench_rows (id bigint PRIMARY KEY, words text NOT NULL)");
}

void run() {
  const test::PostgresServer server({.durable = true});
  SystemClock clock;
  postgres::EngineThread thread;
  postgres::PostgresDatabase database({.url = server.url(),
                                       .user = server.user(),
                                       .password = server.password(),
                                       .pool_max = 2,
                                       .batch_connections = 2},
                                      thread, clock);
  asio::io_context io;
  asio::co_spawn(io, make_table(database), die_of_errors);
  io.run();

  std::vector<double> our_rates, plain_rates;
  for (int round = 0; round < rounds; ++round) {
    our_rates.push_back(ours(database));
    plain_rates.push_back(plain(server));
    fmt::print("round {}: ours {:.0f}/s, plain {:.0f}/s\n", round + 1, our_rates.back(), plain_rates.back());
    std::fflush(stdout);
  }
  const double ratio = median(our_rates) / median(plain_rates);
  fmt::print("64 callers, single-row inserts, fsync on (medians of {} rounds in rotation)\n", rounds);
  fmt::print("  sluice, 2 connections        {:8.0f} inserts/s\n", median(our_rates));
  fmt::print("  plain libpq, 4 connections   {:8.0f} inserts/s\n", median(plain_rates));
  fmt::print("  ratio {:.2f} (bar: 2.5)\n", ratio);
}

}  // namespace
}  // namespace sluice

int main() {
  try {
    sluice::run();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_postgres: {}\n", error.what());
    return 1;
  }
}
