// How the types of fields are read from JSON, written and documented.
//
// | type                     | JSON                                                                   |
// |--------------------------|------------------------------------------------------------------------|
// | bool                     | true, false                                                            |
// | int64_t                  | a whole number; 1.0 and 1e3 are, as in JSON Schema                     |
// | double                   | any number                                                             |
// | std::string              | a string; its length is counted in characters                          |
// | Uuid, Id<Tag>            | a string                                                               |
// | Time                     | an ISO 8601 string with its zone; written in UTC with milliseconds     |
// | Currency, Money          | "KRW", {"amount": 1000, "currency": "KRW"}                             |
// | an enum with enum_names  | one of the names                                                       |
// | Raw                      | any value; its length is counted in bytes                              |
// | a described struct       | an object (json_object.h)                                              |
// | std::optional<T>         | null or T                                                              |
// | std::vector<T>           | an array                                                               |
// | std::map<std::string, T> | an object with any keys                                                |
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

template <class T>
struct Codec<std::optional<T>> {
  static bool read(Decoder& decoder, Value value, const Limits& limits, std::optional<T>& out) {
    if (value.kind() == Kind::null) {
      out.reset();
      return true;
    }
    return Codec<T>::read(decoder, value, limits, out.emplace());
  }
  static void write(Writer& writer, const std::optional<T>& value) {
    if (!value) {
      writer.null();
      return;
    }
    Codec<T>::write(writer, *value);
  }
  static void schema(Writer& writer, Limits limits) {
    limits.nullable = !limits.never_null;
    Codec<T>::schema(writer, limits);
  }
};

bool check_items(Decoder& decoder, size_t count, const Limits& limits);
// The limits that remain for the items: those on the number of items and the description were the list's.
Limits limits_of_items(const Limits& limits);

template <class T>
struct Codec<std::vector<T>> {
  static bool read(Decoder& decoder, Value value, const Limits& limits, std::vector<T>& out) {
    if (value.kind() != Kind::array) return decoder.wrong_type("must be a list");
    out.clear();
    Items items(value);
    Value item;
    while (items.next(item)) {
      if (out.size() == limits.max_items) return check_items(decoder, out.size() + 1, limits);
      T read_item{};
      if (!Codec<T>::read(decoder, item, limits, read_item)) return decoder.inside(out.size());
      out.push_back(std::move(read_item));
    }
    return check_items(decoder, out.size(), limits);
  }
  static void write(Writer& writer, const std::vector<T>& items) {
    writer.begin_array();
    for (const auto& item : items) Codec<T>::write(writer, item);
    writer.end_array();
  }
  static void schema(Writer& writer, const Limits& limits) {
    begin_schema(writer, "array", limits);
    if (limits.min_items > 0) writer.field("minItems", limits.min_items);
    if (limits.max_items != Limits{}.max_items) writer.field("maxItems", limits.max_items);
    writer.key("items");
    Codec<T>::schema(writer, limits_of_items(limits));
    writer.end_object();
  }
};

template <class T>
struct Codec<std::map<std::string, T>> {
  static bool read(Decoder& decoder, Value value, const Limits& limits, std::map<std::string, T>& out) {
    if (value.kind() != Kind::object) return decoder.wrong_type("must be an object");
    out.clear();
    Members members(value);
    std::string_view key;
    Value member;
    while (members.next(key, member)) {
      if (out.size() == limits.max_items) return check_items(decoder, out.size() + 1, limits);
      const auto [entry, added] = out.try_emplace(std::string(key));
      if (!added) decoder.fail(DecodeError::Kind::malformed, "is given twice");
      if (!added || !Codec<T>::read(decoder, member, limits, entry->second)) return decoder.inside(key);
    }
    return check_items(decoder, out.size(), limits);
  }
  static void write(Writer& writer, const std::map<std::string, T>& map) {
    writer.begin_object();
    for (const auto& [key, value] : map) {
      writer.key(key);
      Codec<T>::write(writer, value);
    }
    writer.end_object();
  }
  static void schema(Writer& writer, const Limits& limits) {
    begin_schema(writer, "object", limits);
    if (limits.min_items > 0) writer.field("minProperties", limits.min_items);
    if (limits.max_items != Limits{}.max_items) writer.field("maxProperties", limits.max_items);
    writer.key("additionalProperties");
    Codec<T>::schema(writer, limits_of_items(limits));
    writer.end_object();
  }
};

}  // namespace json
}  // namespace sluice
