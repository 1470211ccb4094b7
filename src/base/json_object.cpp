#include "base/json_object.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/json_codecs.h"
#include "base/nearest.h"

namespace sluice::json {
namespace {

constexpr size_t max_fields = 64;  // one bit each
constexpr size_t none = max_fields;

size_t find(const Fields& fields, std::string_view key) {
  for (size_t i = 0; i < fields.all.size(); ++i) {
    if (fields.all[i]->name() == key) return i;
  }
  return none;
}

bool refuse_unknown(const Fields& fields, Decoder& decoder, std::string_view key) {
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field->name());
  const auto meant = nearest(key, names);
  decoder.fail(DecodeError::Kind::unknown,
               meant ? fmt::format("is not a known field; did you mean {}?", *meant) : "is not a known field");
  return decoder.inside(key);
}

bool require_all(const Fields& fields, Decoder& decoder, uint64_t seen) {
  for (size_t i = 0; i < fields.all.size(); ++i) {
    if (!fields.all[i]->required() || (seen >> i & 1) != 0) continue;
    decoder.fail(DecodeError::Kind::missing, "is missing");
    return decoder.inside(fields.all[i]->name());
  }
  return true;
}

bool says_nothing(Value value) {
  return value.kind() == Kind::null || (value.kind() == Kind::boolean && !value.boolean());
}

bool require_one(const Fields& fields, Decoder& decoder, uint64_t given) {
  if (fields.at_least_one_of.empty()) return true;
  for (const std::string& name : fields.at_least_one_of) {
    if ((given >> find(fields, name) & 1) != 0) return true;
  }
  return decoder.invalid(fmt::format("must have at least one of {}", fmt::join(fields.at_least_one_of, ", ")));
}

}  // namespace

bool read_fields(const Fields& fields, Decoder& decoder, Value value, void* object) {
  check(fields.all.size() < max_fields, "a struct has too many fields for the reader");
  if (value.kind() != Kind::object) return decoder.wrong_type("must be an object");
  uint64_t seen = 0;
  uint64_t given = 0;
  Members members(value);
  std::string_view key;
  Value member;
  while (members.next(key, member)) {
    const size_t index = find(fields, key);
    if (index == none) {
      if (decoder.refuses_unknown()) return refuse_unknown(fields, decoder, key);
      continue;
    }
    if ((seen >> index & 1) != 0) {
      decoder.fail(DecodeError::Kind::malformed, "is given twice");
      return decoder.inside(key);
    }
    seen |= uint64_t{1} << index;
    if (!says_nothing(member)) given |= uint64_t{1} << index;
    if (!fields.all[index]->read(decoder, member, object)) return decoder.inside(key);
  }
  return require_all(fields, decoder, seen) && require_one(fields, decoder, given);
}

void write_fields(const Fields& fields, Writer& writer, const void* object) {
  writer.begin_object();
  for (const auto& field : fields) field->write(writer, object);
  writer.end_object();
}

void schema_of_fields(const Fields& fields, Writer& writer, const Limits& limits) {
  begin_schema(writer, "object", limits);
  writer.key("properties").begin_object();
  for (const auto& field : fields) {
    writer.key(field->name());
    field->schema(writer, limits.output ? SchemaOf::output : SchemaOf::body);
  }
  writer.end_object();
  writer.key("required").begin_array();
  for (const auto& field : fields) {
    if (limits.output ? !field->omits_null() : field->required()) writer.string(field->name());
  }
  writer.end_array();
  if (!fields.at_least_one_of.empty()) {
    writer.key("anyOf").begin_array();
    for (const std::string& name : fields.at_least_one_of) {
      writer.begin_object().key("required").begin_array().string(name).end_array();
      writer.key("properties").begin_object().key(name).raw(R"({"not":{"enum":[null,false]}})");
      writer.end_object().end_object();
    }
    writer.end_array();
  }
  // A later version may write more fields.
  if (!limits.output) writer.field("additionalProperties", false);
  writer.end_object();
}

}  // namespace sluice::json
