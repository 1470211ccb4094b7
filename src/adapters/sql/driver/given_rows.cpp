#include "adapters/sql/driver/given_rows.h"

#include <bit>

#include "base/check.h"

namespace sluice::sql {
namespace {

// PostgreSQL counts microseconds from here.
constexpr Time epoch = std::chrono::sys_days{std::chrono::January / 1 / 2000};

template <class Integer>
void append_big_endian(std::string& out, Integer number) {
  const Integer swapped = std::byteswap(number);
  out.append(reinterpret_cast<const char*>(&swapped), sizeof swapped);
}

// PostgreSQL's number for the type of a value; fixed for ever.
struct TypeOf {
  uint32_t operator()(Null) const { return 0; }
  uint32_t operator()(bool) const { return 16; }
  uint32_t operator()(int64_t) const { return 20; }
  uint32_t operator()(double) const { return 701; }
  uint32_t operator()(const std::string&) const { return 25; }
  uint32_t operator()(const Bytes&) const { return 17; }
  uint32_t operator()(Time) const { return 1184; }
  uint32_t operator()(const Uuid&) const { return 2950; }
  uint32_t operator()(const Array&) const {
    check(false, "a row contains an array");
    return 0;
  }
};

// A value with its length before it.
struct Append {
  std::string& out;

  void operator()(Null) const { append_big_endian(out, int32_t{-1}); }
  void operator()(bool truth) const { append(truth ? "\1" : "\0", 1); }
  void operator()(int64_t number) const { append_number(number); }
  void operator()(double number) const { append_number(std::bit_cast<int64_t>(number)); }
  void operator()(const std::string& text) const { append(text.data(), text.size()); }
  void operator()(const Bytes& bytes) const { append(bytes.data(), bytes.size()); }
  void operator()(Time time) const { append_number((time - epoch).count()); }
  void operator()(const Uuid& uuid) const { append(uuid.bytes.data(), uuid.bytes.size()); }
  void operator()(const Array&) const {}

  void append(const void* data, size_t size) const {
    append_big_endian(out, static_cast<uint32_t>(size));
    out.append(static_cast<const char*>(data), size);
  }
  void append_number(int64_t number) const {
    append_big_endian(out, uint32_t{sizeof number});
    append_big_endian(out, number);
  }
};

uint32_t type_of_column(const std::vector<Params>& rows, size_t column) {
  for (const Params& row : rows) {
    const uint32_t type = std::visit(TypeOf{}, row.values().at(column));
    if (type != 0) return type;
  }
  return 0;
}

// Without a value there is no type to name: as text it is an array of whatever the statement wants.
Array all_null(size_t count) {
  std::string text = "{NULL";
  for (size_t i = 1; i < count; ++i) text += ",NULL";
  return {.encoded = text + "}", .binary = false};
}

TxTask<Rows> execute_one_by_one(Tx& tx, Statement statement, GivenRows given, Params more) {
  Rows all;
  for (size_t i = 0; i < given.size(); ++i) {
    Params params = given.row(i);
    for (const Value& value : more.values()) params.add(value);
    Rows some = co_await tx.execute(statement, std::move(params));
    all.affected += some.affected;
    std::ranges::move(some.rows, std::back_inserter(all.rows));
  }
  co_return all;
}

}  // namespace

Params GivenRows::columns() const {
  Params arrays;
  const size_t count = rows_.empty() ? 0 : rows_.front().values().size();
  for (size_t column = 0; column < count; ++column) arrays.add(Value{array_of(column)});
  return arrays;
}

Array GivenRows::array_of(size_t column) const {
  const uint32_t type = type_of_column(rows_, column);
  if (type == 0) return all_null(rows_.size());
  Array array;
  // One dimension, with NULLs, of so many elements from number 1.
  for (const uint32_t number : {1U, 1U, type, static_cast<uint32_t>(rows_.size()), 1U}) {
    append_big_endian(array.encoded, number);
  }
  for (const Params& row : rows_) std::visit(Append{array.encoded}, row.values().at(column));
  return array;
}

TxTask<Rows> execute_many(Tx& tx, Statement statement, GivenRows given, Params more) {
  if (given.empty()) co_return Rows{};
  if (tx.dialect() == Dialect::sqlite) {
    Rows rows = co_await execute_one_by_one(tx, statement, std::move(given), std::move(more));
    co_return rows;
  }
  Params params = given.columns();
  for (const Value& value : more.values()) params.add(value);
  Rows rows = co_await tx.execute(statement, std::move(params));
  co_return rows;
}

}  // namespace sluice::sql
