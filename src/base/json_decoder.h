// State shared while decoding JSON into a value: the rules and the first error.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::json {

struct DecodeError {
  // All but `invalid` are errors of form (400); an invalid value has the right form but is not allowed (422).
  enum class Kind { malformed, missing, unknown, wrong_type, invalid };

  Kind kind = Kind::malformed;
  std::string path;     // "jobs[3].kind"; empty for the document itself
  std::string message;  // "must be a string", to be read after the path

  std::string text() const;
};

enum class Unknown { refused, ignored };

// The form of a text beyond its length. The schema shows `pattern`, decoding calls `fits`; the test of each form tries
// both on the same texts.
struct TextForm {
  std::string_view pattern;  // ECMA 262, from ^ to $
  bool (*fits)(std::string_view text);
  std::string_view message;  // "must be a path such as a/b.xml"
};

// Limits of a value, as its field declares them. Those on length, form and range also hold for every item of a list.
struct Limits {
  size_t min_length = 0;  // of strings, in characters
  size_t max_length = std::numeric_limits<size_t>::max();
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
  size_t min_items = 0;  // of lists and maps
  size_t max_items = std::numeric_limits<size_t>::max();
  const TextForm* form = nullptr;  // of strings
  std::string about;
  std::string example;   // JSON
  std::string fallback;  // JSON; the value of a field that is absent
  bool nullable = false;
  bool never_null = false;  // not even where the type is a std::optional
};

// Every method returns false, so that a failing read is one statement: return decoder.wrong_type("must be a string").
class Decoder {
 public:
  explicit Decoder(Unknown unknown) : unknown_(unknown) {}

  bool fail(DecodeError::Kind kind, std::string message);
  bool wrong_type(std::string message) { return fail(DecodeError::Kind::wrong_type, std::move(message)); }
  bool invalid(std::string message) { return fail(DecodeError::Kind::invalid, std::move(message)); }
  // Adds the member or item that contains the failure to its path, which grows from its end.
  bool inside(std::string_view key);
  bool inside(size_t index);

  bool refuses_unknown() const { return unknown_ == Unknown::refused; }
  DecodeError& error() { return error_; }

 private:
  void prepend(std::string segment);

  Unknown unknown_;
  DecodeError error_;
};

}  // namespace sluice::json
