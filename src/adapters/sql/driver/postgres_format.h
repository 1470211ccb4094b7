// Values in PostgreSQL's binary format.
//
// A parameter (adapters/postgres/codec.h) and an element of an array (given_rows.h) are encoded alike.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "adapters/sql/driver/value.h"

namespace sluice::sql::postgres_format {

// Numbers of types, from PostgreSQL's pg_type.dat; they never change.
enum Type : uint32_t {
  untyped = 0,
  boolean = 16,
  bytea = 17,
  character = 18,
  name = 19,
  int8 = 20,
  int2 = 21,
  int4 = 23,
  text = 25,
  object = 26,
  json = 114,
  float4 = 700,
  float8 = 701,
  unknown = 705,
  bpchar = 1042,
  varchar = 1043,
  timestamp = 1114,
  timestamptz = 1184,
  numeric = 1700,
  void_type = 2278,
  uuid = 2950,
  jsonb = 3802,
  first_of_the_database = 16384,  // its own types, such as enums
};

// Timestamps are microseconds since this time.
inline constexpr Time epoch = std::chrono::sys_days{std::chrono::January / 1 / 2000};

template <class Integer>
Integer from_big_endian(const char* data) {
  Integer value;
  std::memcpy(&value, data, sizeof value);
  return std::byteswap(value);
}

// A value as it is sent. Refers to the value and to `number`.
struct Encoded {
  uint32_t type = untyped;
  const char* data = nullptr;  // none: NULL
  size_t size = 0;
};

// `number` holds the bytes of values that are numbers. An array has no type here, and its elements are encoded already.
Encoded encode(const Value& value, uint64_t& number);

// An array of one dimension with these elements, which are all of `type` or NULL.
std::string encode_array(uint32_t type, std::span<const Encoded> elements);

}  // namespace sluice::sql::postgres_format
