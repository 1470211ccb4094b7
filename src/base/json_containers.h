// How structs, optional values, lists and maps are read from JSON, written and documented.
//
// | type                     | JSON                                  |
// |--------------------------|---------------------------------------|
// | a described struct       | an object (json_object.h)             |
// | std::optional<T>         | null or T                             |
// | std::vector<T>           | an array                              |
// | std::map<std::string, T> | an object with any keys               |
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_scalars.h"

namespace sluice::json {

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

}  // namespace sluice::json
