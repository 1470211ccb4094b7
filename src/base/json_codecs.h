// How the types of fields are read from JSON, written and documented; those of several values are in
// json_containers.h.
//
// | type               | JSON                                                               |
// |--------------------|--------------------------------------------------------------------|
// | bool               | true, false                                                        |
// | int64_t            | a whole number; 1.0 and 1e3 are, as in JSON Schema                 |
// | other integers     | a whole number; only written                                       |
// | double             | any number                                                         |
// | std::string        | a string; its length is counted in characters                      |
// | std::string_view   | a string; only written                                             |
// | Uuid, Id<Tag>      | a string                                                           |
// | Time               | an ISO 8601 string with its zone; written in UTC with milliseconds |
// | Currency, Money    | "KRW", {"amount": 1000, "currency": "KRW"}                         |
// | an enum            | one of its enum_names                                              |
// | Raw                | any value; its length is counted in bytes                          |
// | RawView            | any value; only written                                            |
// | a described struct | an object (json_object.h)                                          |
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>

#include "base/enum_names.h"
#include "base/id.h"
#include "base/json_object.h"
#include "base/money.h"
#include "base/time.h"

namespace sluice {

void describe(json::Object<Money>& object);

namespace json {

// A value kept as JSON: compact, without duplicate keys, numbers as 64 bits or a double hold them.
struct Raw {
  std::string text = "null";

  friend bool operator==(const Raw&, const Raw&) = default;
};

// Text that is JSON already, and lives elsewhere.
struct RawView {
  std::string_view text;
};

// A schema cannot contain itself, so a document with the schema of a Raw has it under this name.
inline constexpr std::string_view raw_schema_name = "#/components/schemas/Json";
inline constexpr std::string_view raw_schema =
    R"({"description":"Any JSON without NUL characters, at most 64 levels deep.","anyOf":[)"
    R"({"type":["null","boolean","number"]},{"type":"string","pattern":"^[^\\u0000]*$"},)"
    R"({"type":"array","items":{"$ref":"#/components/schemas/Json"}},)"
    R"({"type":"object","propertyNames":{"pattern":"^[^\\u0000]*$"},)"
    R"("additionalProperties":{"$ref":"#/components/schemas/Json"}}]})";

// Opens a schema object with its type and description; the caller adds its own keywords and closes it.
void begin_schema(Writer& writer, std::string_view type, const Limits& limits);
// Description, default and example; part of begin_schema.
void write_notes(Writer& writer, const Limits& limits);

template <>
struct Codec<bool> {
  static bool read(Decoder& decoder, Value value, const Limits& limits, bool& out);
  static void write(Writer& writer, bool value);
  static void schema(Writer& writer, const Limits& limits);
};
template <>
struct Codec<int64_t> {
  static bool read(Decoder& decoder, Value value, const Limits& limits, int64_t& out);
  static void write(Writer& writer, int64_t value);
  static void schema(Writer& writer, const Limits& limits);
};
template <>
struct Codec<double> {
  static bool read(Decoder& decoder, Value value, const Limits& limits, double& out);
  static void write(Writer& writer, double value);
  static void schema(Writer& writer, const Limits& limits);
};
template <>
struct Codec<std::string> {
  static bool read(Decoder& decoder, Value value, const Limits& limits, std::string& out);
  static void write(Writer& writer, const std::string& value);
  static void schema(Writer& writer, const Limits& limits);
};
template <>
struct Codec<std::string_view> {
  static void write(Writer& writer, std::string_view value);
  static void schema(Writer& writer, const Limits& limits);
};
template <>
struct Codec<Uuid> {
  static bool read(Decoder& decoder, Value value, const Limits& limits, Uuid& out);
  static void write(Writer& writer, const Uuid& value);
  static void schema(Writer& writer, const Limits& limits);
};
template <>
struct Codec<Time> {
  static bool read(Decoder& decoder, Value value, const Limits& limits, Time& out);
  static void write(Writer& writer, Time value);
  static void schema(Writer& writer, const Limits& limits);
};
template <>
struct Codec<Currency> {
  static bool read(Decoder& decoder, Value value, const Limits& limits, Currency& out);
  static void write(Writer& writer, const Currency& value);
  static void schema(Writer& writer, const Limits& limits);
};
template <>
struct Codec<Raw> {
  static bool read(Decoder& decoder, Value value, const Limits& limits, Raw& out);
  static void write(Writer& writer, const Raw& value);
  static void schema(Writer& writer, const Limits& limits);
};

template <>
struct Codec<RawView> {
  static void write(Writer& writer, RawView value);
  static void schema(Writer& writer, const Limits& limits);
};

// Other integers are only written; input is always an int64_t with a range.
template <std::integral T>
struct Codec<T> {
  static void write(Writer& writer, T value) {
    if constexpr (std::is_signed_v<T>) {
      writer.integer(value);
    } else {
      writer.unsigned_integer(value);
    }
  }
  static void schema(Writer& writer, Limits limits) {
    if constexpr (std::is_unsigned_v<T>) limits.min = std::max<int64_t>(limits.min, 0);
    Codec<int64_t>::schema(writer, limits);
  }
};

template <class Tag>
struct Codec<Id<Tag>> {
  static bool read(Decoder& decoder, Value value, const Limits& limits, Id<Tag>& out) {
    Uuid uuid;
    if (!Codec<Uuid>::read(decoder, value, limits, uuid)) return false;
    out = Id<Tag>(uuid);
    return true;
  }
  static void write(Writer& writer, const Id<Tag>& value) { Codec<Uuid>::write(writer, value.uuid()); }
  static void schema(Writer& writer, const Limits& limits) { Codec<Uuid>::schema(writer, limits); }
};

template <NamedEnum Enum>
struct Codec<Enum> {
  static bool read(Decoder& decoder, Value value, const Limits&, Enum& out) {
    if (value.kind() != Kind::string) return decoder.wrong_type("must be a string");
    const auto parsed = parse_enum<Enum>(value.string());
    if (!parsed) return decoder.invalid("must be one of " + list_names<Enum>());
    out = *parsed;
    return true;
  }
  static void write(Writer& writer, Enum value) { writer.string(enum_name(value)); }
  static void schema(Writer& writer, const Limits& limits) {
    begin_schema(writer, "string", limits);
    writer.key("enum").begin_array();
    for (const auto& entry : enum_names(Enum{})) writer.string(entry.name);
    if (limits.nullable) writer.null();
    writer.end_array().end_object();
  }
};

template <Described T>
struct Codec<T> {
  static bool read(Decoder& decoder, Value value, const Limits&, T& out) {
    return read_fields(Object<T>::fields(), decoder, value, &out);
  }
  static void write(Writer& writer, const T& value) { write_fields(Object<T>::fields(), writer, &value); }
  static void schema(Writer& writer, const Limits& limits) { schema_of_fields(Object<T>::fields(), writer, limits); }
};

}  // namespace json
}  // namespace sluice
