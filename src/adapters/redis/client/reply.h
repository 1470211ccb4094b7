// A reply of Redis.
//
// An independent value: it refers to nothing of its connection. Statuses ("OK") are texts. Reading it as another type
// throws EngineUnavailable, because then the server is not the expected one.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sluice::redis {

class Reply {
 public:
  // A refusal inside an array (a refused command throws Refused, see redis.h): "WRONGTYPE Operation against ...".
  struct Error {
    std::string text;
    bool operator==(const Error&) const = default;
  };
  using Array = std::vector<Reply>;

  Reply() = default;  // nil
  Reply(std::integral auto value) : value_(static_cast<int64_t>(value)) {}
  Reply(std::string value) : value_(std::move(value)) {}
  Reply(const char* value) : value_(std::string(value)) {}
  Reply(Array value) : value_(std::move(value)) {}
  Reply(Error value) : value_(std::move(value)) {}

  bool is_nil() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_error() const { return std::holds_alternative<Error>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }

  // Also of a text that is a whole number: values above 2^53 must leave a script as text.
  int64_t integer() const;
  const std::string& text() const;
  std::string take_text();
  const Array& array() const;
  Array& array();
  // An element of an array.
  const Reply& operator[](size_t i) const;
  const std::string& error() const;

  bool operator==(const Reply&) const = default;

 private:
  std::variant<std::monostate, int64_t, std::string, Array, Error> value_;
};

}  // namespace sluice::redis
