// PostgreSQL's numeric, as sums come back.
#pragma once

#include <string_view>

#include "adapters/sql/driver/value.h"

namespace sluice::postgres {

// From the binary form: an integer where it has no fraction and fits, else its decimal text.
sql::Value numeric_value(std::string_view wire);

}  // namespace sluice::postgres
