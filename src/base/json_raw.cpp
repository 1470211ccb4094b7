#include <algorithm>
#include <vector>

#include "base/json_scalars.h"

namespace sluice::json {
namespace {

// By sorting: the client chooses how many keys there are.
bool has_duplicates(std::vector<std::string_view>& keys) {
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) != keys.end();
}

bool write_value(Decoder& decoder, Value value, Writer& writer);

bool write_array(Decoder& decoder, Value value, Writer& writer) {
  writer.begin_array();
  Items items(value);
  Value item;
  for (size_t index = 0; items.next(item); ++index) {
    if (!write_value(decoder, item, writer)) return decoder.inside(index);
  }
  writer.end_array();
  return true;
}

bool write_object(Decoder& decoder, Value value, Writer& writer) {
  writer.begin_object();
  Members members(value);
  std::vector<std::string_view> keys;
  std::string_view key;
  Value member;
  while (members.next(key, member)) {
    keys.push_back(key);
    writer.key(key);
    if (!write_value(decoder, member, writer)) return decoder.inside(key);
  }
  writer.end_object();
  if (has_duplicates(keys)) return decoder.fail(DecodeError::Kind::malformed, "has the same key twice");
  return true;
}

bool write_value(Decoder& decoder, Value value, Writer& writer) {
  switch (value.kind()) {
    case Kind::null: writer.null(); return true;
    case Kind::boolean: writer.boolean(value.boolean()); return true;
    case Kind::integer: writer.integer(value.integer()); return true;
    case Kind::unsigned_integer: writer.unsigned_integer(value.unsigned_integer()); return true;
    case Kind::number: writer.number(value.number()); return true;
    case Kind::string: writer.string(value.string()); return true;
    case Kind::array: return write_array(decoder, value, writer);
    case Kind::object: return write_object(decoder, value, writer);
  }
  return false;
}

}  // namespace

bool Codec<Raw>::read(Decoder& decoder, Value value, const Limits&, Raw& out) {
  out.text.clear();
  Writer writer(out.text);
  return write_value(decoder, value, writer);
}
void Codec<Raw>::write(Writer& writer, const Raw& value) {
  writer.raw(value.text);
}
void Codec<Raw>::schema(Writer& writer, const Limits& limits) {
  writer.begin_object();
  if (!limits.about.empty()) writer.field("description", limits.about);
  writer.end_object();
}

}  // namespace sluice::json
