// The bytes of a journal's record: numbers and texts, one after the other.
//
//   const std::string record = RecordWriter(Kind::held).text(key).number(token).take();
//
// Eight bytes for a number, four for a text's length, least significant first. A record that does not fit is a bug or a
// damaged file: both abort, because continuing would invent state that was never acknowledged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"

namespace sluice::coordination {

class RecordWriter {
 public:
  RecordWriter() = default;
  template <class Kind>
  explicit RecordWriter(Kind kind) {
    bytes_.push_back(static_cast<char>(kind));
  }

  RecordWriter& number(int64_t value) { return add(static_cast<uint64_t>(value), 8); }
  RecordWriter& text(std::string_view value) {
    add(value.size(), 4);
    bytes_.append(value);
    return *this;
  }
  void append(std::string_view bytes) { bytes_.append(bytes); }
  void reserve(size_t bytes) { bytes_.reserve(bytes); }
  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }
  std::string take() { return std::move(bytes_); }

 private:
  RecordWriter& add(uint64_t value, int bytes) {
    char least_first[8];
    for (int i = 0; i < bytes; ++i) least_first[i] = static_cast<char>(value >> (8 * i));
    bytes_.append(least_first, static_cast<size_t>(bytes));
    return *this;
  }

  std::string bytes_;
};

// Refers to the bytes it was given.
class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : left_(bytes) {}

  template <class Kind>
  Kind kind() {
    return static_cast<Kind>(piece(1)[0]);
  }
  int64_t number() { return static_cast<int64_t>(value(8)); }
  std::string_view text() { return piece(value(4)); }
  bool at_end() const { return left_.empty(); }
  // Bytes that have not been read.
  size_t left() const { return left_.size(); }

 private:
  std::string_view piece(size_t length) {
    check_that(length <= left_.size(), "a journal record is {} bytes too short", length - left_.size());
    const std::string_view found = left_.substr(0, length);
    left_.remove_prefix(length);
    return found;
  }
  uint64_t value(int bytes) {
    const std::string_view found = piece(static_cast<size_t>(bytes));
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(static_cast<uint8_t>(found[i])) << (8 * i);
    return value;
  }

  std::string_view left_;
};

}  // namespace sluice::coordination
