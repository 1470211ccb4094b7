// A parsed JSON document and the values in it.
//
// Parsing is strict and complete before any value is read: broken UTF-8, a byte order mark, truncated text, anything
// after the value, numbers beyond the range of a double, lone surrogates, NUL in a string and nesting deeper than 64
// are refused. Duplicate keys are left to the reader of an object. The parser (simdjson) stays in json_value.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
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

}  // namespace sluice::json
