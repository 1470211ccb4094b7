#include "adapters/sql/given_rows.h"

#include <fmt/format.h>

namespace sluice::sql {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

// As PostgreSQL reads it, to the microsecond.
std::string time_text(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:06}+00", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

void append_element(std::string& out, const Value& value) {
  struct Append {
    std::string& out;
    void operator()(Null) const { out += "NULL"; }
    void operator()(bool truth) const { out += truth ? 't' : 'f'; }
    void operator()(int64_t number) const { out += fmt::format_int(number).c_str(); }
    void operator()(double number) const { out += fmt::format("{}", number); }
    void operator()(const std::string& text) const { append_quoted(out, text); }
    void operator()(const Bytes& bytes) const { append_quoted(out, "\\x" + to_hex(bytes)); }
    void operator()(Time time) const { append_quoted(out, time_text(time)); }
    void operator()(const Uuid& uuid) const { out += uuid.text(); }
  };
  std::visit(Append{out}, value);
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
  for (size_t column = 0; column < count; ++column) {
    std::string text = "{";
    for (const Params& row : rows_) {
      if (text.size() > 1) text += ',';
      append_element(text, row.values().at(column));
    }
    arrays.add(text + "}");
  }
  return arrays;
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
