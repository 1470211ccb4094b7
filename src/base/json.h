// Strict JSON: text into structs that name the wrong field, structs into text, and the schema of both.
//
// A struct describes its fields once (json_object.h); json_codecs.h and json_containers.h have the supported field
// types. Unknown fields are refused, so that a typo never goes unnoticed.
#pragma once

#include <string>
#include <string_view>

#include "base/json_containers.h"
#include "base/result.h"

namespace sluice::json {

// Reads all of `text` as a T. Allow unknown fields for documents of other programs, which may add fields at any time.
template <class T>
Result<T, DecodeError> decode(std::string_view text, Unknown unknown = Unknown::refused) {
  const auto document = Document::parse(text);
  if (!document) return DecodeError{DecodeError::Kind::malformed, "", std::string(document.error())};
  Decoder decoder(unknown);
  T value{};
  if (!Codec<T>::read(decoder, document->root(), Limits{}, value)) return std::move(decoder.error());
  return value;
}

template <class T>
std::string encode(const T& value) {
  std::string out;
  Writer writer(out);
  writer.value(value);
  return out;
}

// The JSON Schema of what decode<T> accepts, as OpenAPI 3.1 embeds it. Structs inside are written out, so a T must not
// contain itself.
template <class T>
std::string schema() {
  std::string out;
  Writer writer(out);
  Codec<T>::schema(writer, Limits{});
  return out;
}

// The same of what encode<T> writes. It allows further fields, so that a later version may add some.
template <class T>
std::string output_schema() {
  std::string out;
  Writer writer(out);
  Limits limits;
  limits.output = true;
  Codec<T>::schema(writer, limits);
  return out;
}

}  // namespace sluice::json
