#include "adapters/postgres/pipeline_reading.h"

#include <memory>

#include <libpq-fe.h>

#include "adapters/postgres/codec.h"

namespace sluice::postgres {
namespace {

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? "" : text;
}

SqlFailure read_failure(const PGresult* result) {
  SqlFailure failure{.state = field(result, PG_DIAG_SQLSTATE),
                     .message = field(result, PG_DIAG_MESSAGE_PRIMARY),
                     .constraint = field(result, PG_DIAG_CONSTRAINT_NAME)};
  if (failure.message.empty()) failure.message = PQresultErrorMessage(result);
  // libpq's own failures carry no state: they are the wire's.
  if (failure.state.empty()) failure.state = "08000";
  if (failure.constraint.empty()) {
    failure.constraint = field(result, PG_DIAG_TABLE_NAME) + "." + field(result, PG_DIAG_COLUMN_NAME);
  }
  return failure;
}

StepResult read_rows(const PGresult* result) {
  StepResult read;
  try {
    read.rows = decode(result);
  } catch (...) {
    read.error = std::current_exception();
  }
  return read;
}

}  // namespace

void PipelineReading::take(pg_result* given) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(given, &PQclear);
  if (!result) return;
  const ExecStatusType status = PQresultStatus(result.get());
  if (status == PGRES_PIPELINE_SYNC) {
    complete_ = true;
    return;
  }
  const size_t step = seen_++;
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
    outcome_.results.push_back(read_rows(result.get()));
  } else if (status != PGRES_PIPELINE_ABORTED && !outcome_.failure) {
    outcome_.failure = read_failure(result.get());
    outcome_.failed_at = step;
  }
}

std::string PipelineReading::last_words(std::string message) const {
  if (outcome_.failure) return outcome_.failure->message;
  return message;
}

}  // namespace sluice::postgres
