#include "adapters/sqlite/writer.h"

#include <pthread.h>

#include "base/check.h"
#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice::sqlite {
namespace {

const metrics::Counter writes_total{"sqlite_writes_total", "Statements and transactions run by the writer thread."};
const metrics::Histogram group_seconds{"sqlite_group_duration_seconds",
                                       "Time from the start of a commit group to the end of its commit."};

class SqliteTx : public sql::Tx {
 public:
  explicit SqliteTx(Connection& connection) : connection_(connection) {}
  sql::Dialect dialect() const override { return sql::Dialect::sqlite; }

  // The first statement that failed; the transaction must not commit after it.
  const std::exception_ptr& failure() const { return failure_; }

 protected:
  bool start(sql::TxStatement& statement) override {
    try {
      if (failure_) std::rethrow_exception(failure_);
      statement.finish(connection_.execute(statement.statement().text(dialect()), statement.params()));
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
      statement.fail(std::current_exception());
    }
    return true;
  }

 private:
  Connection& connection_;
  std::exception_ptr failure_;
};

}  // namespace

Writer::Writer(std::unique_ptr<Connection> connection, WriteQueue& queue, std::vector<CommitRider*> riders,
               const Clock& clock)
    : connection_(std::move(connection)), queue_(queue), riders_(std::move(riders)), clock_(clock), thread_([this] {
        serve();
      }) {}

Writer::~Writer() {
  thread_.join();
}

void Writer::serve() {
  pthread_setname_np(pthread_self(), "sqlite-writer");
  metrics::CounterCell& writes = writes_total.with({});
  metrics::HistogramCell& seconds = group_seconds.with({});
  Writes group;
  while (queue_.next(group)) {
    const std::optional<Refusal> refused = begin();
    group = queue_.take();
    const Instant start = clock_.now();
    if (refused) {
      for (Write* write : group) refused->fail(*write);
    } else if (commit_group(group) == GroupEnd::undone_by_member) {
      commit_singly(group);
    }
    seconds.observe(std::chrono::duration<double>(clock_.now() - start).count());
    writes.add(group.size());
  }
}

std::optional<Writer::Refusal> Writer::begin() {
  using enum EngineUnavailable::Retryable;
  try {
    connection_->execute("BEGIN IMMEDIATE");
    return std::nullopt;
  } catch (const EngineUnavailable& error) {
    return Refusal{.reason = error.what(), .retryable = error.retryable() ? yes : no};
  } catch (const std::exception& error) {
    return Refusal{.reason = error.what()};
  }
}

void Writer::Refusal::fail(Write& write) const {
  write.error = CallError(std::make_exception_ptr(EngineUnavailable("sqlite", reason, retryable)));
}

void Writer::commit_singly(const Writes& group) {
  if (group.size() == 1) return;
  for (Write* write : group) {
    write->error = {};
    if (const auto refused = begin()) {
      refused->fail(*write);
    } else {
      commit_group({write});
    }
  }
}

Writer::GroupEnd Writer::commit_group(const Writes& group) {
  connection_->set_now(clock_.wall());
  for (Write* write : group) {
    run(*write);
    if (!connection_->in_transaction()) return GroupEnd::undone_by_member;
  }
  try {
    commit(group);
    return GroupEnd::answered;
  } catch (const sql::ConstraintViolation&) {
    if (group.size() == 1) group.front()->error = CallError(std::current_exception());
    roll_back();
    return GroupEnd::undone_by_member;
  } catch (const std::exception& error) {
    roll_back();
    log::error("a commit failed", {{"error", error.what()}, {"writes", group.size()}});
    for (CommitRider* rider : riders_) rider->commit_failed(error.what());
    const Refusal refusal{.reason = fmt::format("the commit failed: {}", error.what())};
    for (Write* write : group) refusal.fail(*write);
    return GroupEnd::answered;
  }
}

void Writer::commit(const Writes& group) {
  for (CommitRider* rider : riders_) rider->before_commit(*connection_, group);
  connection_->execute("COMMIT");
  for (CommitRider* rider : riders_) rider->committed();
}

void Writer::run(Write& write) {
  try {
    if (write.body != nullptr) {
      run_body(write);
    } else if (write.params != nullptr) {
      write.rows = connection_->execute(write.statement.text(sql::Dialect::sqlite), *write.params);
    }
  } catch (...) {
    write.error = CallError(std::current_exception());
  }
}

void Writer::run_body(Write& write) {
  connection_->execute("SAVEPOINT body");
  try {
    SqliteTx tx(*connection_);
    sql::TxTask<> task = (*write.body)(tx);
    task.start();
    check(task.done(), "the body of a transaction waited for something other than the transaction");
    task.take();
    if (tx.failure()) std::rethrow_exception(tx.failure());
  } catch (...) {
    // Some failures (disk full, out of memory) have undone the whole group already.
    if (connection_->in_transaction()) {
      connection_->execute("ROLLBACK TO body");
      connection_->execute("RELEASE body");
    }
    throw;
  }
  connection_->execute("RELEASE body");
}

void Writer::roll_back() {
  if (connection_->in_transaction()) connection_->execute("ROLLBACK");
}

}  // namespace sluice::sqlite
