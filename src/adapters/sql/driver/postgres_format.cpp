#include "adapters/sql/driver/postgres_format.h"

namespace sluice::sql::postgres_format {
namespace {

struct Encoder {
  uint64_t& number;

  Encoded operator()(Null) const { return {}; }
  Encoded operator()(bool truth) const { return {boolean, truth ? "\1" : "\0", 1}; }
  Encoded operator()(int64_t integer) const { return big_endian(int8, static_cast<uint64_t>(integer)); }
  Encoded operator()(double real) const { return big_endian(float8, std::bit_cast<uint64_t>(real)); }
  Encoded operator()(const std::string& given) const { return {text, given.data(), given.size()}; }
  Encoded operator()(const Bytes& bytes) const {
    // An empty vector may have no address, which would be NULL.
    return {bytea, bytes.empty() ? "" : reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  Encoded operator()(Time time) const { return big_endian(timestamptz, static_cast<uint64_t>((time - epoch).count())); }
  Encoded operator()(const Uuid& id) const {
    return {uuid, reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
  }
  Encoded operator()(const Array& array) const { return {untyped, array.encoded.data(), array.encoded.size()}; }

  Encoded big_endian(Type type, uint64_t value) const {
    number = std::byteswap(value);
    return {type, reinterpret_cast<const char*>(&number), sizeof number};
  }
};

void append_big_endian(std::string& out, uint32_t number) {
  const uint32_t swapped = std::byteswap(number);
  out.append(reinterpret_cast<const char*>(&swapped), sizeof swapped);
}

}  // namespace

Encoded encode(const Value& value, uint64_t& number) {
  return std::visit(Encoder{number}, value);
}

std::string encode_array(uint32_t type, std::span<const Encoded> elements) {
  constexpr uint32_t null_length = UINT32_MAX;
  std::string out;
  // One dimension, with NULLs, of so many elements from number 1.
  for (const uint32_t number : {1U, 1U, type, static_cast<uint32_t>(elements.size()), 1U}) {
    append_big_endian(out, number);
  }
  for (const Encoded& element : elements) {
    append_big_endian(out, element.data == nullptr ? null_length : static_cast<uint32_t>(element.size));
    if (element.data != nullptr) out.append(element.data, element.size);
  }
  return out;
}

}  // namespace sluice::sql::postgres_format
