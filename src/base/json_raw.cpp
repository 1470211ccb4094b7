#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/json_codecs.h"

namespace sluice::json {
namespace {

// Writes a value out compactly, and looks for keys that are there twice.
class Copy {
 public:
  Copy(Decoder& decoder, std::string& out) : decoder_(decoder), writer_(out) {}

  bool value(Value from) {
    switch (from.kind()) {
      case Kind::null: writer_.null(); return true;
      case Kind::boolean: writer_.boolean(from.boolean()); return true;
      case Kind::integer: writer_.integer(from.integer()); return true;
      case Kind::unsigned_integer: writer_.unsigned_integer(from.unsigned_integer()); return true;
      case Kind::number: writer_.number(from.number()); return true;
      case Kind::string: writer_.string(from.string()); return true;
      case Kind::array: return array(from);
      case Kind::object: return object(from);
    }
    return false;
  }

 private:
  bool array(Value from) {
    writer_.begin_array();
    Items items(from);
    Value item;
    for (size_t index = 0; items.next(item); ++index) {
      if (!value(item)) return decoder_.inside(index);
    }
    writer_.end_array();
    return true;
  }

  bool object(Value from) {
    writer_.begin_object();
    const size_t first = keys_.size();
    Members members(from);
    std::string_view key;
    Value member;
    while (members.next(key, member)) {
      keys_.push_back(key);
      writer_.key(key);
      if (!value(member)) return decoder_.inside(key);
    }
    writer_.end_object();
    const bool twice = has_duplicates({keys_.begin() + static_cast<ptrdiff_t>(first), keys_.end()});
    keys_.resize(first);
    return !twice || decoder_.fail(DecodeError::Kind::malformed, "has the same key twice");
  }

  // By sorting: the client chooses how many keys there are.
  static bool has_duplicates(std::span<std::string_view> keys) {
    std::ranges::sort(keys);
    return std::ranges::adjacent_find(keys) != keys.end();
  }

  Decoder& decoder_;
  Writer writer_;
  std::vector<std::string_view> keys_;  // of all the objects we are in
};

}  // namespace

bool Codec<Raw>::read(Decoder& decoder, Value value, const Limits& limits, Raw& out) {
  out.text.clear();
  if (!Copy(decoder, out.text).value(value)) return false;
  if (out.text.size() <= limits.max_length) return true;
  return decoder.invalid(fmt::format("must not exceed {} bytes", limits.max_length));
}
void Codec<Raw>::write(Writer& writer, const Raw& value) {
  writer.raw(value.text);
}
void Codec<Raw>::schema(Writer& writer, const Limits& limits) {
  Codec<RawView>::schema(writer, limits);
}

void Codec<RawView>::write(Writer& writer, RawView value) {
  writer.raw(value.text);
}
void Codec<RawView>::schema(Writer& writer, const Limits& limits) {
  writer.begin_object().field("$ref", raw_schema_name);
  write_notes(writer, limits);
  writer.end_object();
}

}  // namespace sluice::json
