#include "bench/bare_jobs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace sluice::bench {
namespace {

constexpr const char* claim =
    "UPDATE jobs SET status = 'running', attempts = attempts + 1, lock_token = lock_token + 1, lock_ttl = 600000000, "
    "  locked_at = now(), locked_by = 'bench', lock_expires_at = now() + interval '10 minutes', updated_at = now() "
    "WHERE ctid = ANY (ARRAY(SELECT ctid FROM jobs WHERE kind = 'noop' AND slot IS NOT NULL AND status <> 'running' "
    "  AND run_after <= now() ORDER BY priority, run_after, id LIMIT $1 FOR UPDATE SKIP LOCKED)) "
    "RETURNING id, lock_token, kind, payload, attempts, max_attempts, lock_expires_at, throttle_key";
constexpr const char* complete =
    "INSERT INTO finished_jobs (id, kind, status, priority, run_after, attempts, max_attempts, lock_token, locked_at, "
    "  created_at, finished_at, locked_by, unique_key, payload, last_error) "
    "SELECT ended.id, kind, 'succeeded', priority, run_after, attempts, max_attempts, lock_token, locked_at, "
    "  created_at, now(), locked_by, unique_key, payload, last_error "
    "FROM unnest($1::uuid[], $2::bigint[]) AS given (id, token) "
    "CROSS JOIN LATERAL (SELECT * FROM jobs WHERE id = given.id OFFSET 0) AS ended "
    "WHERE lock_token = given.token AND status = 'running'";

void run_loop(const BareLoops& loops, std::atomic<size_t>& count) {
  PlainConnection connection(loops.url, loops.user, loops.password);
  const std::string limit = std::to_string(loops.jobs_at_once);
  while (true) {
    const auto claimed = connection.query(claim, {limit.c_str()});
    if (connection.rows() == 0) return;
    const size_t some = connection.rows();
    connection.query(complete, {claimed[0].c_str(), claimed[1].c_str()});
    if (connection.touched() != some) throw std::runtime_error("a job was not completed");
    count += some;
  }
}

}  // namespace

PlainConnection::PlainConnection(const std::string& url, const std::string& user, const std::string& password) {
  const char* names[] = {"dbname", "user", "password", nullptr};
  const char* values[] = {url.c_str(), user.c_str(), password.c_str(), nullptr};
  pg_ = PQconnectdbParams(names, values, 1);
}

std::array<std::string, 2> PlainConnection::query(const char* text, std::vector<const char*> values) {
  PGresult* result =
      PQexecParams(pg_, text, static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr, 0);
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) throw std::runtime_error(PQerrorMessage(pg_));
  std::array<std::string, 2> columns{"{", "{"};
  const int count = PQntuples(result);
  for (int column = 0; column < std::min(PQnfields(result), 2); ++column) {
    std::string& array = columns[static_cast<size_t>(column)];
    for (int row = 0; row < count; ++row) {
      if (row > 0) array += ',';
      array += PQgetvalue(result, row, column);
    }
  }
  touched_ = static_cast<size_t>(std::atoll(PQcmdTuples(result)));
  PQclear(result);
  rows_ = static_cast<size_t>(count);
  columns[0] += '}';
  columns[1] += '}';
  return columns;
}

double work_off_bare(const BareLoops& loops) {
  std::atomic<size_t> count = 0;
  const auto start = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < loops.connections; ++i) threads.emplace_back([&] { run_loop(loops, count); });
  }
  return static_cast<double>(count) / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace sluice::bench
