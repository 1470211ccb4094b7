// Reading a pipeline's results in the order libpq gives them.
#pragma once

#include "adapters/postgres/connection.h"

struct pg_result;

namespace sluice::postgres {

class PipelineReading {
 public:
  explicit PipelineReading(size_t steps) { outcome_.results.reserve(steps); }

  // Takes ownership of a result of PQgetResult. Null separates the steps.
  void take(pg_result* result);
  bool complete() const { return complete_; }
  PipelineOutcome outcome() { return std::move(outcome_); }

  // Why the connection ended: the server's last message, else `message`.
  std::string last_words(std::string message) const;

 private:
  PipelineOutcome outcome_;
  size_t seen_ = 0;
  bool complete_ = false;
};

}  // namespace sluice::postgres
