// Values that go into and come out of SQL statements.
//
// PostgreSQL has types for times, ids and truth; SQLite has integers and blobs. A store names the C++ type it wants and
// gets it from either: Time is microseconds in SQLite, Uuid a 16-byte blob, bool 0 or 1.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/encoding.h"
#include "base/id.h"
#include "base/time.h"

namespace sluice::sql {

using Null = std::monostate;

// Many values of one type as PostgreSQL takes them; made by GivenRows. No other database has arrays.
struct Array {
  std::string encoded;
  bool binary = true;

  bool operator==(const Array&) const = default;
};

using Value = std::variant<Null, bool, int64_t, double, std::string, Bytes, Time, Uuid, Array>;

}  // namespace sluice::sql

// Instantiated in value.cpp: every store has many of them, and each would compile them again.
extern template class std::variant<sluice::sql::Null, bool, int64_t, double, std::string, sluice::Bytes, sluice::Time,
                                   sluice::Uuid, sluice::sql::Array>;
extern template class std::vector<sluice::sql::Value>;

namespace sluice::sql {

// Parameters $1, $2, ... in order: Params{user_id, "name", Null{}}.
class Params {
 public:
  Params();
  Params(const Params&);
  Params(Params&&) noexcept;
  Params& operator=(const Params&);
  Params& operator=(Params&&) noexcept;
  ~Params();
  template <class... Values>
    requires(sizeof...(Values) > 0 && !(std::same_as<std::remove_cvref_t<Values>, Params> || ...))
  explicit Params(Values&&... values) {
    reserve(sizeof...(values));
    (add(std::forward<Values>(values)), ...);
  }

  template <class Given>
  void add(Given&& value) {
    add_value(to_value(std::forward<Given>(value)));
  }
  const std::vector<Value>& values() const { return values_; }

 private:
  static Value to_value(Value value) { return value; }
  static Value to_value(std::string_view text) { return std::string(text); }
  static Value to_value(const char* text) { return std::string(text); }
  static Value to_value(std::string text) { return text; }
  // A template, so that nothing else (a double, a pointer) turns into a truth by itself.
  template <std::same_as<bool> Truth>
  static Value to_value(Truth value) {
    return value;
  }
  template <std::floating_point Real>
  static Value to_value(Real value) {
    return static_cast<double>(value);
  }
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  static Value to_value(Integer value) {
    return static_cast<int64_t>(value);
  }
  template <class Tag>
  static Value to_value(const Id<Tag>& id) {
    return id.uuid();
  }
  template <class Given>
  static Value to_value(const std::optional<Given>& value) {
    return value ? to_value(*value) : Value{Null{}};
  }

  void reserve(size_t count);
  void add_value(Value value);

  std::vector<Value> values_;
};

// One row of a result. Columns are taken by position, in the order the statement names them; a wrong type is a mistake
// of ours (check).
class Row {
 public:
  explicit Row(std::vector<Value> values) : values_(std::move(values)) {}

  bool is_null(size_t column) const { return std::holds_alternative<Null>(values_.at(column)); }
  int64_t integer(size_t column) const;
  bool boolean(size_t column) const;
  double real(size_t column) const;
  const std::string& text(size_t column) const;
  const Bytes& bytes(size_t column) const;
  Time time(size_t column) const;
  Uuid uuid(size_t column) const;
  template <class Tag>
  Id<Tag> id(size_t column) const {
    return Id<Tag>(uuid(column));
  }

  std::optional<std::string> optional_text(size_t column) const;
  std::optional<int64_t> optional_integer(size_t column) const;
  std::optional<Time> optional_time(size_t column) const;
  std::optional<Uuid> optional_uuid(size_t column) const;

  size_t size() const { return values_.size(); }

 private:
  std::vector<Value> values_;
};

struct Rows {
  std::vector<Row> rows;
  // How many rows an INSERT, UPDATE or DELETE touched.
  int64_t affected = 0;

  bool empty() const { return rows.empty(); }
  size_t size() const { return rows.size(); }
  const Row& operator[](size_t i) const { return rows.at(i); }
  // The only row; a mistake of ours if there is another number.
  const Row& one() const;
  auto begin() const { return rows.begin(); }
  auto end() const { return rows.end(); }
};

}  // namespace sluice::sql
