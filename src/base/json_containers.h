// How fields with any number of values are read from JSON, written and documented.
//
// | type                                   | JSON                                                            |
// |----------------------------------------|-----------------------------------------------------------------|
// | std::optional<T>                       | null or T                                                       |
// | const T*                               | null or T; only written                                         |
// | std::vector<T>                         | an array                                                        |
// | std::map<std::string, T>               | an object with any keys                                         |
// | std::map<Enum, T>                      | an object whose keys are names of the enum; only written        |
// | std::vector<std::pair<std::string, T>> | an object with any keys, in the order of the list; only written |
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_codecs.h"

namespace sluice::json {

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

template <class T>
struct Codec<const T*> {
  static void write(Writer& writer, const T* value) {
    if (value == nullptr) {
      writer.null();
      return;
    }
    Codec<T>::write(writer, *value);
  }
  static void schema(Writer& writer, const Limits& limits) { Codec<std::optional<T>>::schema(writer, limits); }
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

// Up to the schema of the values, which the caller writes before it closes the object.
void begin_map_schema(Writer& writer, const Limits& limits);

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
    begin_map_schema(writer, limits);
    Codec<T>::schema(writer, limits_of_items(limits));
    writer.end_object();
  }
};

template <NamedEnum Key, class T>
struct Codec<std::map<Key, T>> {
  static void write(Writer& writer, const std::map<Key, T>& map) {
    writer.begin_object();
    for (const auto& [key, value] : map) {
      writer.key(enum_name(key));
      Codec<T>::write(writer, value);
    }
    writer.end_object();
  }
  static void schema(Writer& writer, const Limits& limits) {
    begin_map_schema(writer, limits);
    Codec<T>::schema(writer, limits_of_items(limits));
    writer.key("propertyNames");
    Codec<Key>::schema(writer, Limits{});
    writer.end_object();
  }
};

template <class T>
struct Codec<std::vector<std::pair<std::string, T>>> {
  static void write(Writer& writer, const std::vector<std::pair<std::string, T>>& members) {
    writer.begin_object();
    for (const auto& [key, value] : members) {
      writer.key(key);
      Codec<T>::write(writer, value);
    }
    writer.end_object();
  }
  static void schema(Writer& writer, const Limits& limits) { Codec<std::map<std::string, T>>::schema(writer, limits); }
};

}  // namespace sluice::json
