// A database as stores see it: statements and transactions, never connections.
//
// Stores (adapters/sql/ROOM/sql_*.h) are written once over this; adapters/sqlite and adapters/postgres implement it.
// Every method is one transaction, durable when it returns. Failures of the engine throw EngineUnavailable; a broken
// constraint throws ConstraintViolation, which a store turns into an outcome; a wrong statement StatementError. Safe
// to use from any thread; results arrive on the caller's executor, whose context must outlive the database (the
// thread that answers may still be on its way out of the post when the caller goes on).
//
// Every implementation passes tests/contract/database_*_contract.cpp.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

#include "adapters/sql/driver/tx_task.h"
#include "runtime/errors.h"
#include "runtime/task.h"

namespace sluice::sql {

// A unique, foreign key, check or not-null constraint refused the row. `constraint` is its name where the engine tells
// (PostgreSQL), else the columns as SQLite names them ("table.column").
class ConstraintViolation : public std::runtime_error {
 public:
  enum class Kind { unique, foreign_key, check, not_null };
  ConstraintViolation(Kind kind, std::string constraint)
      : std::runtime_error("constraint violated: " + constraint), kind_(kind), constraint_(std::move(constraint)) {}
  Kind kind() const { return kind_; }
  const std::string& constraint() const { return constraint_; }

 private:
  Kind kind_;
  std::string constraint_;
};

// The engine refuses the statement itself: bad syntax, an unknown table, a value of the wrong type. A mistake of ours
// that repeating cannot mend; other statements are not harmed.
class StatementError : public EngineRefused {
 public:
  using EngineRefused::EngineRefused;
};

class Database {
 public:
  // A transaction's body with its arguments bound; called once per attempt, each time with fresh copies.
  using Body = std::function<TxTask<>(Tx&)>;

  virtual ~Database() = default;
  virtual Dialect dialect() const = 0;

  // Reads committed data, including everything that was acknowledged to this process. Never waits for writers.
  virtual Task<Rows> read(Statement statement, Params params = {}) = 0;

  // The same, where an answer some seconds old will do: from the replica if one is configured. Never for decisions.
  virtual Task<Rows> read_relaxed(Statement statement, Params params = {}) {
    return read(statement, std::move(params));
  }

  // One small write that waits for no row lock (an INSERT, mostly). Writes of many callers share one commit; a failing
  // one fails alone.
  virtual Task<Rows> write(Statement statement, Params params = {}) = 0;

  // Runs `body` with `arguments` as one transaction, on its own where it may wait for row locks. Serialization failures
  // and deadlocks run it again from the start. An exception from the body rolls back and comes through. Once a
  // statement has failed the transaction never commits: a body that swallows the error gets it thrown by transact.
  template <class Value, class... Parameters, class... Arguments>
  Task<Value> transact(TxTask<Value> (*body)(Tx&, Parameters...), Arguments... arguments) {
    std::tuple<std::decay_t<Parameters>...> bound(std::move(arguments)...);
    if constexpr (std::is_void_v<Value>) {
      const Body attempt = bind_body(body, std::move(bound));
      co_await run(attempt);
    } else {
      std::optional<Value> result;
      const Body attempt = bind_body_into(body, std::move(bound), result);
      co_await run(attempt);
      co_return std::move(*result);
    }
  }

 protected:
  // Runs `body`, which outlives the call, as transact says.
  virtual Task<> run(const Body& body) = 0;

 private:
  template <class... Parameters, class Bound>
  static Body bind_body(TxTask<> (*body)(Tx&, Parameters...), Bound bound) {
    return [body, bound = std::move(bound)](Tx& tx) {
      return std::apply([body, &tx](const auto&... values) { return body(tx, values...); }, bound);
    };
  }
  template <class Value, class... Parameters, class Bound>
  static Body bind_body_into(TxTask<Value> (*body)(Tx&, Parameters...), Bound bound, std::optional<Value>& result) {
    return [body, bound = std::move(bound), &result](Tx& tx) {
      TxTask<Value> task = std::apply([body, &tx](const auto&... values) { return body(tx, values...); }, bound);
      return keep_result(std::move(task), result);
    };
  }
  template <class Value>
  static TxTask<> keep_result(TxTask<Value> task, std::optional<Value>& result) {
    result.emplace(co_await std::move(task));
  }
};

}  // namespace sluice::sql
