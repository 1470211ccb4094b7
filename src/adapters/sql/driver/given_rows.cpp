#include "adapters/sql/driver/given_rows.h"

#include "adapters/sql/driver/postgres_format.h"
#include "base/check.h"

namespace sluice::sql {
namespace {

// Without a value the type is unknown; PostgreSQL casts an array in text format to the type of the statement.
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
  std::vector<postgres_format::Encoded> elements;
  std::vector<uint64_t> numbers(rows_.size());
  elements.reserve(rows_.size());
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Value& value = rows_[i].values().at(column);
    check(!std::holds_alternative<Array>(value), "a row contains an array");
    elements.push_back(postgres_format::encode(value, numbers[i]));
  }
  const auto typed = std::ranges::find_if(elements, [](const auto& one) { return one.data != nullptr; });
  if (typed == elements.end()) return all_null(rows_.size());
  return {.encoded = postgres_format::encode_array(typed->type, elements), .binary = true};
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
