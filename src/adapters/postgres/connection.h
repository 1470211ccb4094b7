// One connection to PostgreSQL: libpq, asynchronous, always in pipeline mode.
//
// Keeps no session state (no prepared statements by name, no SET), so a transaction pooler may be in between. At most
// one pipeline with one sync is running: poolers such as PgBouncer 1.18 release the server at the first sync's answer.
// Belongs to one executor.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "adapters/postgres/postgres_config.h"
#include "adapters/postgres/sql_failure.h"
#include "adapters/postgres/targets.h"
#include "adapters/sql/driver/value.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

struct pg_conn;

namespace sluice::postgres {

// A statement to run. Refers to text and parameters, which must stay until it has.
struct Step {
  std::string_view text;
  const sql::Params& params;
};

struct StepResult {
  sql::Rows rows;
  std::exception_ptr error;  // the rows could not be read as C++ values
};

// How a pipeline ended. Without failure there is a result for every step and, outside a transaction, all of them are
// committed. With one, nothing of it took effect.
struct PipelineOutcome {
  std::vector<StepResult> results;
  std::optional<SqlFailure> failure;
  size_t failed_at = 0;  // which step; the number of steps when the commit itself failed
};

class Connection {
 public:
  // Connects and logs in, at the first address where a server is ready, all of it within config.connect_timeout. Throws
  // LoginRefused if that server refuses the login, ConnectionLost if there is none, or DeadlineExceeded if even the
  // addresses were not found in that time.
  static Task<std::unique_ptr<Connection>> open(Executor executor, const PostgresConfig& config, Clock& clock);

  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs the steps as one pipeline with one sync: one implicit transaction, unless they begin one. Throws
  // ConnectionLost, or DeadlineExceeded once the server has been silent for `silence`; the connection is broken then.
  Task<PipelineOutcome> run(std::vector<Step> steps, Duration silence);

  // Waits for notifications of channels that the session listens to, `most` at most; how many there were. Throws
  // ConnectionLost. None where it was roused. Only through a direct connection.
  Task<size_t> hear(Duration most);
  void rouse();

  // The backend that answered the login, as in `pg_backend_pid()`. A pooler returns its own number.
  int backend() const;

  // False once it is unusable: broken, abandoned half way, or left inside a transaction.
  bool usable() const;

  // Calls `broken` when the other side closes an idle connection; until the next run or unwatch.
  void watch(std::function<void()> broken);
  void unwatch();

 private:
  // Shared with pending timers and watches, which may outlive the connection by a moment.
  struct Wire {
    explicit Wire(const Executor& executor) : socket(executor), silence(executor) {}
    asio::posix::stream_descriptor socket;
    asio::steady_timer silence;
    bool timed_out = false;
    bool hearing = false;
    uint64_t watch = 0;  // counts, so that an old watch is told from the present one
  };

  explicit Connection(const Executor& executor);
  Task<> connect(const PostgresConfig& config, const Target& target, const Clock& clock, Deadline deadline);
  void send(const std::vector<Step>& steps);
  Task<> flush(Duration silence);
  Task<> wait(bool for_write, Duration silence);
  void consume_input();
  size_t take_notifications();
  void adopt_socket();
  [[noreturn]] void not_let_in();
  [[noreturn]] void lost();

  std::shared_ptr<Wire> wire_;
  pg_conn* pg_ = nullptr;
  bool in_pipeline_ = false;
};

}  // namespace sluice::postgres
