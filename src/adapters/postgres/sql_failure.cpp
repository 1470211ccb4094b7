#include "adapters/postgres/sql_failure.h"

#include "adapters/sql/driver/database.h"

namespace sluice::postgres {
namespace {

using Kind = sql::ConstraintViolation::Kind;
using Retryable = EngineUnavailable::Retryable;

std::optional<Kind> constraint_kind(std::string_view state) {
  if (state == "23505" || state == "23P01") return Kind::unique;  // 23P01: an exclusion constraint
  if (state == "23503" || state == "23001") return Kind::foreign_key;
  if (state == "23514") return Kind::check;
  if (state == "23502") return Kind::not_null;
  return std::nullopt;
}

// The server is going down, out of something, read-only after a failover, or the wire broke: not the statement's fault.
bool server_at_fault(std::string_view state) {
  for (const std::string_view start : {"08", "53", "57P", "58", "55P03", "25006", "25P03", "40", "XX"}) {
    if (state.starts_with(start)) return true;
  }
  return false;
}

}  // namespace

std::exception_ptr to_exception(const SqlFailure& failure, std::string_view text) {
  if (const auto kind = constraint_kind(failure.state)) {
    return std::make_exception_ptr(sql::ConstraintViolation(*kind, failure.constraint));
  }
  if (failure.state == "57014") return std::make_exception_ptr(DeadlineExceeded(engine_name));
  if (server_at_fault(failure.state)) {
    // A pooler reports class 08 when its server is gone: the statement may have taken effect.
    const Retryable retryable = failure.state.starts_with("08") ? Retryable::no : Retryable::yes;
    return std::make_exception_ptr(EngineUnavailable(engine_name, failure.message, retryable));
  }
  return std::make_exception_ptr(
      sql::StatementError(fmt::format("{} ({}) in: {}", failure.message, failure.state, text)));
}

}  // namespace sluice::postgres
