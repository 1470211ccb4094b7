// Many numbers as one parameter: '{1,2}' for PostgreSQL ($1::text::bigint[]), '[1,2]' for SQLite (json_each($1)).
#pragma once

#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "adapters/sql/driver/statement.h"

namespace sluice::sql {

template <class Numbers>
std::string number_list(Dialect dialect, const Numbers& numbers) {
  return dialect == Dialect::postgres ? fmt::format("{{{}}}", fmt::join(numbers, ","))
                                      : fmt::format("[{}]", fmt::join(numbers, ","));
}

}  // namespace sluice::sql
