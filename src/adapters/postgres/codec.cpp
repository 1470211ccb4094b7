#include "adapters/postgres/codec.h"

#include <bit>
#include <charconv>
#include <cstring>

#include <libpq-fe.h>

#include "adapters/sql/driver/database.h"
#include "adapters/sql/driver/postgres_format.h"
#include "base/check.h"

namespace sluice::postgres {
namespace {

namespace format = sql::postgres_format;
using format::from_big_endian;
using sql::Null;
using sql::Value;

// A numeric on the wire: number of digits, weight of the first, sign, decimals shown, then digits in base 10,000; 16
// bits each.
constexpr uint16_t negative = 0x4000, not_a_number = 0xC000, infinite = 0xD000, minus_infinite = 0xF000;

int word(std::string_view wire, size_t i) {
  return static_cast<uint8_t>(wire.at(2 * i)) << 8 | static_cast<uint8_t>(wire.at(2 * i + 1));
}

struct Digits {
  std::string_view wire;
  int count;
  int weight;

  // The digit that stands for 10,000 to the power of `place`.
  int at(int place) const {
    const int i = weight - place;
    return i < 0 || i >= count ? 0 : word(wire, 4 + static_cast<size_t>(i));
  }
};

std::string decimal_text(const Digits& digits, bool minus, int decimals) {
  std::string text = minus ? "-" : "";
  const int top = std::max(0, digits.weight);
  text += std::to_string(digits.at(top));
  for (int place = top - 1; place >= 0; --place) text += fmt::format("{:04}", digits.at(place));
  if (decimals == 0) return text;
  std::string fraction;
  for (int place = -1; static_cast<int>(fraction.size()) < decimals; --place) {
    fraction += fmt::format("{:04}", digits.at(place));
  }
  return text + "." + fraction.substr(0, static_cast<size_t>(decimals));
}

Uuid to_uuid(const char* data) {
  Uuid uuid;
  std::memcpy(uuid.bytes.data(), data, uuid.bytes.size());
  return uuid;
}

Value to_value(Oid type, const char* data, size_t size) {
  switch (type) {
    case format::boolean: return *data != 0;
    case format::int2: return int64_t{from_big_endian<int16_t>(data)};
    case format::int4: return int64_t{from_big_endian<int32_t>(data)};
    case format::object: return int64_t{from_big_endian<uint32_t>(data)};
    case format::int8: return from_big_endian<int64_t>(data);
    case format::float4: return double{std::bit_cast<float>(from_big_endian<uint32_t>(data))};
    case format::float8: return std::bit_cast<double>(from_big_endian<uint64_t>(data));
    case format::bytea: return Bytes(data, data + size);
    case format::timestamp:
    case format::timestamptz: return format::epoch + Duration{from_big_endian<int64_t>(data)};
    case format::uuid: return to_uuid(data);
    case format::numeric: return numeric_value({data, size});
    case format::jsonb: return std::string(data + 1, size - 1);  // after a version byte
    case format::void_type: return Null{};
    case format::text:
    case format::varchar:
    case format::bpchar:
    case format::character:
    case format::name:
    case format::unknown:
    case format::json: return std::string(data, size);
    default: break;
  }
  if (type >= format::first_of_the_database) return std::string(data, size);
  throw sql::StatementError(fmt::format("PostgreSQL's type {} is not supported; cast it in the statement", type));
}

}  // namespace

sql::Value numeric_value(std::string_view wire) {
  check(wire.size() >= 8, "a numeric has at least 8 bytes");
  const int sign = word(wire, 2);
  if (sign == not_a_number) return std::string("NaN");
  if (sign == infinite) return std::string("Infinity");
  if (sign == minus_infinite) return std::string("-Infinity");
  const Digits digits{wire, word(wire, 0), static_cast<int16_t>(word(wire, 1))};
  const int decimals = word(wire, 3);
  std::string text = decimal_text(digits, sign == negative, decimals);
  int64_t integer = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (decimals == 0 && parsed.ec == std::errc{}) return integer;
  return text;
}

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
  const format::Encoded encoded = format::encode(value, numbers_.emplace_back());
  const auto* const array = std::get_if<sql::Array>(&value);
  types.push_back(encoded.type == format::text ? format::untyped : encoded.type);  // the server infers it
  values.push_back(encoded.data);
  lengths.push_back(static_cast<int>(encoded.size));
  formats.push_back(array != nullptr && !array->binary ? 0 : 1);  // text is the same in both formats
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
