// Errors of PostgreSQL and their meaning for Sluice.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "runtime/errors.h"

namespace sluice::postgres {

inline constexpr const char* engine_name = "postgres";

struct SqlFailure {
  std::string state;  // SQLSTATE, five characters
  std::string message;
  std::string constraint;  // the constraint's name; for a not-null "table.column"

  // A serialization failure or deadlock: nothing happened, and the same again may well succeed.
  bool conflict() const { return state == "40001" || state == "40P01"; }
};

// The connection broke; the outcome of running statements is unknown.
class ConnectionLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A server was there and did not let us in: a wrong password, a database that it does not have.
class LoginRefused : public ConnectionLost {
 public:
  using ConnectionLost::ConnectionLost;
};

// The exception of the family in adapters/sql/driver/database.h and runtime/errors.h for a failure of the statement
// `text`.
std::exception_ptr to_exception(const SqlFailure& failure, std::string_view text);

}  // namespace sluice::postgres
