// The body of a transaction.
//
// A TxTask can await statements of its own transaction and other TxTasks, and nothing else: the compiler refuses a body
// that waits for a timer, the network or another store while it holds locks. SQLite runs a body to its end on the
// writer thread without ever suspending it; PostgreSQL suspends it while the server works.
//
// Bodies are plain functions that take their arguments by value, so that a body can be run again after a serialization
// failure:
//
//   TxTask<Outcome> settle(Tx& tx, Payment payment) {
//     const Rows updated = co_await tx.execute(mark_paid, Params(payment.id));
//     ...
//   }
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "adapters/sql/driver/statement.h"
#include "adapters/sql/driver/value.h"
#include "base/check.h"

namespace sluice::sql {

template <class Value = void>
class TxTask;
class Tx;

// One running statement, returned by `tx.execute`. Awaited at once, in the body that made it.
class TxStatement {
 public:
  TxStatement(Tx& tx, Statement statement, Params params)
      : statement_(statement), params_(std::move(params)), tx_(tx) {}
  TxStatement(const TxStatement&) = delete;
  TxStatement& operator=(const TxStatement&) = delete;

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> body);
  Rows await_resume() {
    if (error_) std::rethrow_exception(error_);
    return std::move(rows_);
  }

  // For the driver: the statement to run, and its end. After `finish` or `fail` the driver calls `resume` if `start`
  // reported a later end.
  const Statement& statement() const { return statement_; }
  const Params& params() const { return params_; }
  void finish(Rows rows) { rows_ = std::move(rows); }
  void fail(std::exception_ptr error) { error_ = std::move(error); }
  void resume() { body_.resume(); }

 private:
  Statement statement_;
  Params params_;
  Tx& tx_;
  Rows rows_;
  std::exception_ptr error_;
  std::coroutine_handle<> body_;
};

// A running transaction, as its body sees it. Begin, commit and rollback are the driver's.
class Tx {
 public:
  virtual ~Tx() = default;

  TxStatement execute(Statement statement, Params params = {}) { return {*this, statement, std::move(params)}; }
  virtual Dialect dialect() const = 0;

 protected:
  friend class TxStatement;
  // Runs the statement. True: it has ended, the body goes on at once. False: the driver will finish and resume it
  // later.
  virtual bool start(TxStatement& statement) = 0;
};

inline bool TxStatement::await_suspend(std::coroutine_handle<> body) {
  body_ = body;
  return !tx_.start(*this);
}

namespace detail {

struct TxPromiseBase {
  std::coroutine_handle<> awaiting = std::noop_coroutine();
  std::exception_ptr error;

  std::suspend_always initial_suspend() noexcept { return {}; }
  auto final_suspend() noexcept {
    struct ToAwaiting {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<>) noexcept { return next; }
      void await_resume() noexcept {}
      std::coroutine_handle<> next;
    };
    return ToAwaiting{awaiting};
  }
  void unhandled_exception() { error = std::current_exception(); }

  // The only type that a body may await.
  TxStatement&& await_transform(TxStatement&& statement) { return std::move(statement); }
  template <class Value>
  TxTask<Value>&& await_transform(TxTask<Value>&& task) {
    return std::move(task);
  }
};

template <class Value>
struct TxPromise : TxPromiseBase {
  std::optional<Value> value;

  TxTask<Value> get_return_object();
  template <class Given>
  void return_value(Given&& given) {
    value.emplace(std::forward<Given>(given));
  }
  Value take() {
    if (error) std::rethrow_exception(error);
    return std::move(*value);
  }
};

template <>
struct TxPromise<void> : TxPromiseBase {
  TxTask<void> get_return_object();
  void return_void() {}
  void take() {
    if (error) std::rethrow_exception(error);
  }
};

}  // namespace detail

template <class Value>
class [[nodiscard]] TxTask {
 public:
  using promise_type = detail::TxPromise<Value>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit TxTask(Handle handle) : handle_(handle) {}
  TxTask(TxTask&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  TxTask& operator=(TxTask&&) = delete;
  ~TxTask() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) {
    handle_.promise().awaiting = awaiting;
    return handle_;
  }
  Value await_resume() { return handle_.promise().take(); }

  // For the driver: runs until the end or the first statement that has to wait.
  void start() { handle_.resume(); }
  bool done() const { return handle_.done(); }
  Value take() { return handle_.promise().take(); }

 private:
  Handle handle_;
};

namespace detail {
template <class Value>
TxTask<Value> TxPromise<Value>::get_return_object() {
  return TxTask<Value>(std::coroutine_handle<TxPromise>::from_promise(*this));
}
inline TxTask<void> TxPromise<void>::get_return_object() {
  return TxTask<void>(std::coroutine_handle<TxPromise>::from_promise(*this));
}
}  // namespace detail

}  // namespace sluice::sql
