// Values on PostgreSQL's wire.
//
// Both ways in binary: no rounding, no time zones, no quoting. A parameter's type is told where C++ knows it (bool,
// bigint, double precision, bytea, timestamptz, uuid); text is left to the server to infer, so that it can also become
// jsonb, an enum or an array.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/sql/driver/value.h"

struct pg_result;

namespace sluice::postgres {

// Parameters in the form PQsendQueryParams takes. Refers to the `Params` it was made from.
class EncodedParams {
 public:
  explicit EncodedParams(const sql::Params& params);
  EncodedParams(const EncodedParams&) = delete;
  EncodedParams& operator=(const EncodedParams&) = delete;

  int count() const { return static_cast<int>(values.size()); }

  std::vector<unsigned> types;
  std::vector<const char*> values;
  std::vector<int> lengths;
  std::vector<int> formats;

 private:
  void add(const sql::Value& value);

  std::vector<uint64_t> numbers_;  // never grows beyond its reserved size: values point into it
};

// All rows of a result in binary format. Types: bool; int2, int4, int8, oid as integer; float4, float8; text, varchar,
// char, name, json, jsonb and types of the database's own (enums) as text; bytea; timestamptz and timestamp as Time;
// uuid. A numeric is an integer where it has no fraction and fits (a sum of bigints), else text. Throws StatementError
// for other types: cast them in the statement.
sql::Rows decode(const pg_result* result);

// PostgreSQL's numeric, from its binary form: an integer where it has no fraction and fits, else its decimal text.
sql::Value numeric_value(std::string_view wire);

}  // namespace sluice::postgres
