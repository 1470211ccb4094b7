#include "adapters/postgres/codec.h"

#include <bit>
#include <charconv>
#include <cstring>

#include <libpq-fe.h>

#include "adapters/postgres/numeric.h"
#include "adapters/sql/driver/database.h"

namespace sluice::postgres {
namespace {

using sql::Null;
using sql::Value;

// From PostgreSQL's pg_type.dat; fixed for ever.
namespace oid {
constexpr Oid boolean = 16, bytea = 17, character = 18, name = 19, int8 = 20, int2 = 21, int4 = 23, text = 25,
              object = 26, json = 114, float4 = 700, float8 = 701, unknown = 705, bpchar = 1042, varchar = 1043,
              timestamp = 1114, timestamptz = 1184, numeric = 1700, void_type = 2278, uuid = 2950, jsonb = 3802,
              first_of_the_database = 16384;
}

// PostgreSQL counts microseconds from here.
constexpr Time epoch = std::chrono::sys_days{std::chrono::January / 1 / 2000};

template <class Integer>
Integer from_big_endian(const char* data) {
  Integer value;
  std::memcpy(&value, data, sizeof value);
  return std::byteswap(value);
}

Uuid to_uuid(const char* data) {
  Uuid uuid;
  std::memcpy(uuid.bytes.data(), data, uuid.bytes.size());
  return uuid;
}

Value to_value(Oid type, const char* data, size_t size) {
  switch (type) {
    case oid::boolean: return *data != 0;
    case oid::int2: return int64_t{from_big_endian<int16_t>(data)};
    case oid::int4: return int64_t{from_big_endian<int32_t>(data)};
    case oid::object: return int64_t{from_big_endian<uint32_t>(data)};
    case oid::int8: return from_big_endian<int64_t>(data);
    case oid::float4: return double{std::bit_cast<float>(from_big_endian<uint32_t>(data))};
    case oid::float8: return std::bit_cast<double>(from_big_endian<uint64_t>(data));
    case oid::bytea: return Bytes(data, data + size);
    case oid::timestamp:
    case oid::timestamptz: return epoch + Duration{from_big_endian<int64_t>(data)};
    case oid::uuid: return to_uuid(data);
    case oid::numeric: return numeric_value({data, size});
    case oid::jsonb: return std::string(data + 1, size - 1);  // after a version byte
    case oid::void_type: return Null{};
    case oid::text:
    case oid::varchar:
    case oid::bpchar:
    case oid::character:
    case oid::name:
    case oid::unknown:
    case oid::json: return std::string(data, size);
    default: break;
  }
  if (type >= oid::first_of_the_database) return std::string(data, size);
  throw sql::StatementError(fmt::format("PostgreSQL's type {} is not supported; cast it in the statement", type));
}

}  // namespace

EncodedParams::EncodedParams(const sql::Params& params) {
  const size_t size = params.values().size();
  types.reserve(size);
  values.reserve(size);
  lengths.reserve(size);
  formats.reserve(size);
  numbers_.reserve(size);
  for (const Value& value : params.values()) add(value);
}

void EncodedParams::add(const Value& value) {
  struct Visitor {
    EncodedParams& out;
    void operator()(Null) const { out.add(0, nullptr, 0); }
    void operator()(bool truth) const { out.add(oid::boolean, truth ? "\1" : "\0", 1); }
    void operator()(int64_t number) const { out.add_big_endian(oid::int8, static_cast<uint64_t>(number)); }
    void operator()(double number) const { out.add_big_endian(oid::float8, std::bit_cast<uint64_t>(number)); }
    void operator()(const std::string& text) const { out.add(0, text.data(), text.size()); }
    void operator()(const Bytes& bytes) const {
      out.add(oid::bytea, bytes.empty() ? static_cast<const void*>("") : bytes.data(), bytes.size());
    }
    void operator()(Time time) const {
      out.add_big_endian(oid::timestamptz, static_cast<uint64_t>((time - epoch).count()));
    }
    void operator()(const Uuid& uuid) const { out.add(oid::uuid, uuid.bytes.data(), uuid.bytes.size()); }
    void operator()(const sql::Array& array) const {
      out.add(0, array.encoded.data(), array.encoded.size());
      out.formats.back() = array.binary ? 1 : 0;
    }
  };
  std::visit(Visitor{*this}, value);
}

void EncodedParams::add(unsigned type, const void* data, size_t size) {
  types.push_back(type);
  values.push_back(static_cast<const char*>(data));
  lengths.push_back(static_cast<int>(size));
  formats.push_back(1);  // text is the same in both formats
}

void EncodedParams::add_big_endian(unsigned type, uint64_t value) {
  numbers_.push_back(std::byteswap(value));
  add(type, &numbers_.back(), sizeof value);
}

sql::Rows decode(const pg_result* result) {
  sql::Rows rows;
  const std::string_view affected = PQcmdTuples(const_cast<PGresult*>(result));
  std::from_chars(affected.data(), affected.data() + affected.size(), rows.affected);
  const int columns = PQnfields(result);
  const int count = PQntuples(result);
  rows.rows.reserve(static_cast<size_t>(count));
  for (int row = 0; row < count; ++row) {
    std::vector<Value> values;
    values.reserve(static_cast<size_t>(columns));
    for (int column = 0; column < columns; ++column) {
      if (PQgetisnull(result, row, column)) {
        values.emplace_back(Null{});
        continue;
      }
      const auto size = static_cast<size_t>(PQgetlength(result, row, column));
      values.push_back(to_value(PQftype(result, column), PQgetvalue(result, row, column), size));
    }
    rows.rows.emplace_back(std::move(values));
  }
  return rows;
}

}  // namespace sluice::postgres
