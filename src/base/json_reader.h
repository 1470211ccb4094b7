// A parsed JSON document, the values in it, and the state shared while they are decoded.
//
// Parsing is strict and complete before any value is read: broken UTF-8, a byte order mark, truncated text, anything
// after the value, numbers beyond the range of a double, lone surrogates, NUL in a string and nesting deeper than 64
// are refused. Duplicate keys are left to the reader of an object. The parser (simdjson) stays in json_reader.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::json {

// An unsigned_integer is one above the range of int64_t.
enum class Kind { null, boolean, integer, unsigned_integer, number, string, array, object };

// Refers into its Document. Each getter is only for its own kind.
class Value {
 public:
  Kind kind() const;
  bool boolean() const;
  int64_t integer() const;
  uint64_t unsigned_integer() const;
  double number() const;  // of every numeric kind
  std::string_view string() const;

 private:
  friend class Document;
  friend class Items;
  friend class Members;
  using Place = std::array<uint64_t, 2>;  // the parser's own reference
  Place place_{};
};

// Walks an array.
class Items {
 public:
  explicit Items(Value array);
  bool next(Value& item);

 private:
  Value::Place at_;
  Value::Place end_;
};

// Walks an object in the order of its text.
class Members {
 public:
  explicit Members(Value object);
  bool next(std::string_view& key, Value& value);

 private:
  Value::Place at_;
  Value::Place end_;
};

// One per thread at a time is free of allocations: the parser's memory is kept for the next document.
class Document {
 public:
  static constexpr size_t max_depth = 64;

  // The error is one sentence.
  static Result<Document, std::string_view> parse(std::string_view text);

  Document(Document&&) noexcept;
  Document& operator=(Document&&) = delete;
  ~Document();

  Value root() const;

 private:
  struct Parser;
  explicit Document(std::unique_ptr<Parser> parser);
  static std::unique_ptr<Parser>& spare();

  std::unique_ptr<Parser> parser_;
};

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
  std::string format;              // of strings, as JSON Schema calls it
  std::string about;
  std::string example;   // JSON
  std::string fallback;  // JSON; the value of a field that is absent
  bool nullable = false;
  bool never_null = false;  // not even where the type is a std::optional
  bool output = false;      // the schema is of what is written, not of what is accepted
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
