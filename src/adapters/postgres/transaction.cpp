#include "adapters/postgres/transaction.h"

#include "base/check.h"
#include "runtime/retry.h"

namespace sluice::postgres {
namespace {

constexpr unsigned attempts = 10;
constexpr Backoff conflict_backoff{.first = 2ms, .factor = 2, .max = 100ms};
const sql::Params no_params;

// The transaction as its body sees it: takes note of the statement; the loop below runs it.
class PostgresTx : public sql::Tx {
 public:
  sql::Dialect dialect() const override { return sql::Dialect::postgres; }
  sql::TxStatement* take_pending() { return std::exchange(pending_, nullptr); }

 protected:
  bool start(sql::TxStatement& statement) override {
    check(pending_ == nullptr, "a transaction awaits two statements at once");
    pending_ = &statement;
    return false;
  }

 private:
  sql::TxStatement* pending_ = nullptr;
};

class Transaction {
 public:
  Transaction(Connection& connection, const PostgresConfig& config)
      : connection_(connection),
        silence_(config.statement_timeout + config.silence_grace),
        limits_(fmt::format("{}", milliseconds(config.statement_timeout)),
                fmt::format("{}", milliseconds(config.lock_timeout))) {}

  // The body, then COMMIT or ROLLBACK. Returns the error that ended it; nothing if it is committed.
  Task<std::exception_ptr> attempt(const sql::Database::Body& body) {
    sql::TxTask<> task = body(tx_);
    task.start();
    while (!task.done()) {
      sql::TxStatement* statement = tx_.take_pending();
      check(statement != nullptr, "a transaction's body neither ended nor waits for a statement");
      co_await run(*statement);
      statement->resume();
    }
    std::exception_ptr error = result_of(task);
    // Also where the body swallowed the error: PostgreSQL would turn COMMIT into ROLLBACK silently.
    if (failed_) error = failed_;
    if (!begun_) co_return error;
    if (error) {
      co_await roll_back();
    } else {
      error = co_await commit();
    }
    co_return error;
  }

  bool conflict() const { return conflict_; }

 private:
  static int64_t milliseconds(Duration duration) {
    return std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  }

  static std::exception_ptr result_of(sql::TxTask<>& task) {
    try {
      task.take();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  // Runs a statement of the body. BEGIN and the limits travel with the first.
  Task<> run(sql::TxStatement& statement) {
    if (!failed_) {
      std::vector<Step> steps;
      if (!begun_) {
        steps.push_back({"BEGIN", no_params});
        steps.push_back(
            {"SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true)", limits_});
      }
      begun_ = true;
      const std::string_view text = statement.statement().text(sql::Dialect::postgres);
      steps.push_back({text, statement.params()});
      co_await run_steps(std::move(steps), text);
    }
    failed_ ? statement.fail(failed_) : statement.finish(std::move(rows_));
  }

  // Leaves the last step's rows in rows_, or the reason in failed_.
  Task<> run_steps(std::vector<Step> steps, std::string_view text) {
    try {
      PipelineOutcome outcome = co_await connection_.run(std::move(steps), silence_);
      if (outcome.failure) {
        conflict_ = outcome.failure->conflict();
        failed_ = to_exception(*outcome.failure, text);
      } else {
        failed_ = outcome.results.back().error;
        rows_ = std::move(outcome.results.back().rows);
      }
    } catch (const ConnectionLost& lost) {
      failed_ = std::make_exception_ptr(EngineUnavailable(engine_name, lost.what()));
    } catch (...) {
      failed_ = std::current_exception();
    }
  }

  Task<std::exception_ptr> commit() {
    std::vector<Step> steps = {{"COMMIT", no_params}};
    try {
      const PipelineOutcome outcome = co_await connection_.run(std::move(steps), silence_);
      if (!outcome.failure) co_return nullptr;
      conflict_ = outcome.failure->conflict();
      co_return to_exception(*outcome.failure, "COMMIT");
    } catch (const std::exception& lost) {
      const std::string reason = fmt::format("whether it was committed is unknown: {}", lost.what());
      co_return std::make_exception_ptr(EngineUnavailable(engine_name, reason, EngineUnavailable::Retryable::no));
    }
  }

  Task<> roll_back() {
    std::vector<Step> steps = {{"ROLLBACK", no_params}};
    try {
      co_await connection_.run(std::move(steps), silence_);
    } catch (const std::exception&) {
      // The connection is broken, so the server rolls back by itself.
    }
  }

  Connection& connection_;
  const Duration silence_;
  const sql::Params limits_;
  PostgresTx tx_;
  bool begun_ = false;
  bool conflict_ = false;
  sql::Rows rows_;
  std::exception_ptr failed_;
};

}  // namespace

Task<> run_transaction(Connection& connection, const PostgresConfig& config, Clock& clock, Random& random,
                       std::shared_ptr<Request> request) {
  std::exception_ptr error;
  try {
    bool again = true;
    for (unsigned tried = 0; again; ++tried) {
      Transaction transaction(connection, config);
      error = co_await transaction.attempt(*request->body);
      again = transaction.conflict() && connection.usable() && tried + 1 < attempts;
      const Duration pause = conflict_backoff.delay(tried, random);
      if (again) co_await clock.sleep_for(pause);
    }
  } catch (...) {  // cancelled: the driver closes
    error = std::make_exception_ptr(EngineUnavailable(engine_name, "shutting down"));
  }
  error ? request->fail(CallError(std::move(error))) : request->finish({});
  answer(std::span(&request, 1));
}

}  // namespace sluice::postgres
