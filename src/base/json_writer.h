// Writes JSON by appending to a string. Commas, quotes and escapes are its business, nesting is the caller's.
//
//   json::Writer writer(out);
//   writer.begin_object().field("status", "ok").field("waiting", 17).end_object();
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::json {

// Appends `text` in quotes, escaped. Each byte that is not UTF-8 becomes U+FFFD, so the output is always valid JSON on
// one line. Plain text, the usual case, costs little more than a copy.
void append_string(std::string& out, std::string_view text);

// How a type is read, written and documented: base/json_codecs.h.
template <class T>
struct Codec;

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out), start_(out.size()) {}

  Writer& begin_object() { return open('{'); }
  Writer& end_object() { return append('}'); }
  Writer& begin_array() { return open('['); }
  Writer& end_array() { return append(']'); }

  Writer& key(std::string_view name);
  // A key that is known to need no escaping.
  Writer& plain_key(std::string_view name);

  Writer& null() { return raw("null"); }
  Writer& boolean(bool value) { return raw(value ? "true" : "false"); }
  Writer& integer(int64_t value);
  Writer& unsigned_integer(uint64_t value);
  // The shortest text that reads back as the same number; null for infinity and NaN.
  Writer& number(double value);
  // Bytes that are not UTF-8 become U+FFFD: an answer is always valid JSON.
  Writer& string(std::string_view text);
  // Text that is JSON already.
  Writer& raw(std::string_view json);

  template <class T>
  Writer& value(const T& value) {
    if constexpr (std::convertible_to<const T&, std::string_view>) {
      return string(value);
    } else {
      Codec<T>::write(*this, value);
      return *this;
    }
  }
  template <class T>
  Writer& field(std::string_view name, const T& value_of_field) {
    return key(name).value(value_of_field);
  }

 private:
  // Writes a comma, unless a key or an opening bracket precedes directly.
  void separate() {
    if (out_.size() == start_) return;
    const char last = out_.back();
    if (last != '{' && last != '[' && last != ':') out_ += ',';
  }
  Writer& open(char bracket) {
    separate();
    return append(bracket);
  }
  Writer& append(char bracket) {
    out_ += bracket;
    return *this;
  }

  std::string& out_;
  size_t start_;
};

}  // namespace sluice::json
