// Limits in a database, for the contract suite.
#pragma once

#include "adapters/sql/coordination/sql_limit.h"
#include "runtime/system_clock.h"
#include "tests/contract/shared_limit_suite.h"

namespace sluice::test {

class OpenSqlLimits : public OpenLimits {
 public:
  explicit OpenSqlLimits(std::unique_ptr<OpenDatabase> database) : database_(std::move(database)) {}

  coordination::SharedLimit& instance(coordination::LimitPlan plan) override {
    limits_.push_back(std::make_unique<sql::SqlLimit>(database_->database(), std::move(plan), clock_));
    return *limits_.back();
  }
  Task<> lose(coordination::LimitPlan plan) override {
    sql::Params params(plan.name);
    co_await database_->database().write("DELETE FROM limits WHERE name = $1", std::move(params));
  }
  Task<> close() override { return database_->close(); }

 private:
  SystemClock clock_;
  std::unique_ptr<OpenDatabase> database_;
  std::vector<std::unique_ptr<coordination::SharedLimit>> limits_;
};

inline LimitEngine sql_limits(const DatabaseEngine& engine) {
  return {engine.name,
          [engine](asio::io_context& io) { return std::make_unique<OpenSqlLimits>(engine.open(io, 1000)); }};
}

}  // namespace sluice::test
