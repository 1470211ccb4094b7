// Expands the fragments of a text for one dialect; sql_text.h lists them.
//
// Everything here runs in the compiler, and the same code in the tests.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string_view>

#include "adapters/sql/driver/statement.h"

namespace sluice::sql {

// A part that several statements share: mostly columns, in one order.
struct SqlPart {
  std::string_view name;
  std::string_view text;

  // How many columns it has, and the position of one of them.
  constexpr size_t size() const { return static_cast<size_t>(std::ranges::count(text, ',')) + 1; }
  consteval size_t operator[](std::string_view column) const {
    size_t position = 0;
    for (std::string_view rest = text; !rest.empty(); ++position) {
      const std::string_view one = rest.substr(0, rest.find(", "));
      if (one == column) return position;
      rest.remove_prefix(std::min(one.size() + 2, rest.size()));
    }
    throw std::logic_error("the part has no such column");
  }
};

// Expands one text for one dialect. Throws std::logic_error where the text is wrong; in a constant that is an error of
// the compiler.
class SqlText {
 public:
  constexpr SqlText(std::string_view text, Dialect dialect, std::span<const SqlPart> parts = {})
      : postgres_(dialect == Dialect::postgres), parts_(parts) {
    expand(text);
  }

  constexpr std::string_view view() const { return {chars_, size_}; }

 private:
  struct Fragment {
    std::string_view name;
    void (SqlText::*write)(std::string_view arguments);
  };

  static constexpr bool is_space(char c) { return c == ' ' || c == '\n'; }
  static constexpr bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  static constexpr std::string_view trim(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
  }
  static constexpr std::string_view word_at(std::string_view text) {
    size_t end = 0;
    while (end < text.size() && is_word(text[end])) ++end;
    return text.substr(0, end);
  }
  // Up to the end of the quotes with which the text begins.
  static constexpr std::string_view quoted_at(std::string_view text) {
    const size_t end = text.find('\'', 1);
    if (end == std::string_view::npos) throw std::logic_error("quotes are not closed");
    return text.substr(0, end + 1);
  }
  // What stands before the first `separator` outside parentheses and quotes; all of the text where none does.
  static constexpr std::string_view before(std::string_view text, std::string_view separator) {
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\'') {
        i += quoted_at(text.substr(i)).size() - 1;
      } else if (depth == 0 && text[i] == separator[0] && text.substr(i).starts_with(separator)) {
        return text.substr(0, i);
      } else if (text[i] == '(') {
        ++depth;
      } else if (text[i] == ')') {
        --depth;
      }
    }
    return text;
  }
  // Takes it off `text`, with its separator.
  static constexpr std::string_view take(std::string_view& text, std::string_view separator) {
    const std::string_view part = before(text, separator);
    text.remove_prefix(std::min(part.size() + separator.size(), text.size()));
    return trim(part);
  }

  constexpr void put(char c) {
    if (size_ == sizeof chars_) throw std::logic_error("the text is too long");
    chars_[size_++] = c;
  }
  constexpr void write(std::string_view text) {
    for (const char c : text) put(c);
  }
  constexpr void write(std::string_view in_postgres, std::string_view in_sqlite) {
    write(postgres_ ? in_postgres : in_sqlite);
  }
  constexpr void write_number(size_t number) {
    if (number >= 10) put(static_cast<char>('0' + number / 10));
    put(static_cast<char>('0' + number % 10));
  }
  constexpr void space() {
    if (size_ > 0 && chars_[size_ - 1] != ' ') put(' ');
  }

  constexpr void expand(std::string_view text) {
    while (!text.empty()) text.remove_prefix(expand_one(text));
    while (size_ > 0 && chars_[size_ - 1] == ' ') --size_;
  }
  // How much of the text it has dealt with.
  constexpr size_t expand_one(std::string_view text) {
    if (text[0] == '@') return expand_fragment(text);
    if (is_space(text[0])) {
      space();
      return 1;
    }
    const std::string_view part = text[0] == '\'' ? quoted_at(text) : word_at(text);
    if (part == "given" && !given_.empty() && text.substr(part.size()).starts_with('.')) {
      const std::string_view column = word_at(text.substr(part.size() + 1));
      write_given(column);
      return part.size() + 1 + column.size();
    }
    write(part.empty() ? text.substr(0, 1) : part);
    return std::max<size_t>(part.size(), 1);
  }
  constexpr size_t expand_fragment(std::string_view text) {
    const std::string_view name = word_at(text.substr(1));
    const std::string_view rest = text.substr(1 + name.size());
    const bool has_arguments = rest.starts_with('(');
    const std::string_view arguments = has_arguments ? before(rest.substr(1), ")") : "";
    if (has_arguments && arguments.size() + 2 > rest.size()) throw std::logic_error("parentheses are not closed");
    for (const Fragment& fragment : fragments()) {
      if (fragment.name != name) continue;
      (this->*fragment.write)(trim(arguments));
      return 1 + name.size() + (has_arguments ? arguments.size() + 2 : 0);
    }
    for (const SqlPart& part : parts_) {
      if (part.name != name) continue;
      expand_part(part.text);
      return 1 + name.size();
    }
    throw std::logic_error("there is no such fragment");
  }
  // A part within others: what follows decides on the space behind it.
  constexpr void expand_part(std::string_view part) {
    part = trim(part);
    while (!part.empty()) part.remove_prefix(expand_one(part));
    if (size_ > 0 && chars_[size_ - 1] == ' ') --size_;
  }

  constexpr void write_given(std::string_view column) {
    size_t number = 1;
    for (std::string_view rest = given_; !rest.empty(); ++number) {
      if (word_at(take(rest, ",")) != column) continue;
      write(postgres_ ? "given." : "$");
      postgres_ ? write(column) : write_number(number);
      return;
    }
    throw std::logic_error("no such column is given");
  }
  constexpr void write_unnest() {
    size_t number = 1;
    write("unnest(");
    for (std::string_view rest = given_; !rest.empty(); ++number) {
      const std::string_view column = take(rest, ",");
      const std::string_view type = trim(column.substr(word_at(column).size()));
      write(number == 1 ? "$" : ", $");
      write_number(number);
      write(type == "json" ? "::text[]::" : "::");
      write(type);
      write("[]");
    }
    write(") AS given (");
    for (std::string_view rest = given_; !rest.empty();) {
      write(word_at(take(rest, ",")));
      if (!rest.empty()) write(", ");
    }
    write(")");
  }

  constexpr void given(std::string_view columns) { given_ = columns; }
  constexpr void values(std::string_view list) {
    write("SELECT ", "VALUES (");
    expand_part(list);
    postgres_ ? from_given("") : write(")");
  }
  constexpr void from_given(std::string_view) { with_given("FROM "); }
  constexpr void using_given(std::string_view) { with_given("USING "); }
  constexpr void with_given(std::string_view keyword) {
    if (!postgres_) return;
    space();
    write(keyword);
    write_unnest();
  }
  constexpr void from_each(std::string_view query) {
    from_given("");
    write(" CROSS JOIN LATERAL (", "FROM (");
    expand_part(query);
    write(")");
  }
  constexpr void by_index(std::string_view) { write("OFFSET 0", ""); }
  constexpr void postgres(std::string_view text) {
    if (postgres_) expand_part(text);
  }
  constexpr void sqlite(std::string_view text) {
    if (!postgres_) expand_part(text);
  }
  constexpr void first_by(std::string_view order) {
    write("ORDER BY ", "LIMIT 1");
    if (!postgres_) return;
    write(order);
    write(" LIMIT 1");
  }
  constexpr void lookup(std::string_view conditions) {
    for (bool first = true; !conditions.empty(); first = false) {
      std::string_view value = take(conditions, " AND ");
      const std::string_view column = take(value, " = ");
      if (!first) write(" AND ");
      expand_part(column);
      write(first ? " = ANY (ARRAY[" : " BETWEEN ", " = ");
      expand_part(value);
      if (!postgres_) continue;
      if (!first) write(" AND ");
      if (!first) expand_part(value);
      if (first) write("])");
    }
  }
  constexpr void only_after(std::string_view arguments) {
    const std::string_view column = take(arguments, ",");
    if (!postgres_) return expand_part(arguments);
    write("CASE WHEN ");
    expand_part(column);
    write(" IS NOT NULL THEN ");
    expand_part(arguments);
    write(" END");
  }

  constexpr void us(std::string_view count) {
    expand_part(count);
    if (count.starts_with('$')) write("::bigint", "");
    write(" * interval '1 microsecond'", "");
  }
  constexpr void minute(std::string_view) { write("interval '1 minute'", "60000000"); }
  constexpr void hour(std::string_view) { write("interval '1 hour'", "3600000000"); }
  constexpr void day(std::string_view) { write("interval '1 day'", "86400000000"); }
  constexpr void clock(std::string_view) { write("clock_timestamp()", "now()"); }
  constexpr void clock_us(std::string_view) {
    write("(extract(epoch FROM clock_timestamp()) * 1000000)::bigint", "now()");
  }
  constexpr void now_us(std::string_view) { write("(extract(epoch FROM now()) * 1000000)::bigint", "now()"); }
  constexpr void cast(std::string_view arguments) {
    expand_part(take(arguments, ","));
    if (!postgres_) return;
    write("::");
    write(trim(arguments));
  }
  constexpr void greatest(std::string_view list) { call("greatest(", "max(", list); }
  constexpr void least(std::string_view list) { call("least(", "min(", list); }
  constexpr void call(std::string_view in_postgres, std::string_view in_sqlite, std::string_view list) {
    write(in_postgres, in_sqlite);
    expand_part(list);
    write(")");
  }

  constexpr void lock(std::string_view clause) { write(clause, ""); }
  constexpr void place(std::string_view) { write("ctid", "id"); }
  constexpr void in(std::string_view query) {
    write("= ANY (ARRAY(", "IN (");
    expand_part(query);
    write("))", ")");
  }
  constexpr void in_list(std::string_view arguments) {
    const std::string_view list = take(arguments, ",");
    write("= ANY (", "IN (SELECT value FROM json_each(");
    write(list);
    if (postgres_) write("::text::");
    if (postgres_) write(trim(arguments));
    write("[])", "))");
  }
  constexpr void from_found(std::string_view arguments) { found("FROM (", arguments); }
  constexpr void using_found(std::string_view arguments) { found("USING (", arguments); }
  constexpr void found(std::string_view keyword, std::string_view arguments) {
    const std::string_view table = take(arguments, ",");
    std::string_view key = take(arguments, ",");
    key = key.substr(1, key.size() - 2);
    if (!postgres_) {
      const bool single = before(key, ",") == key;
      write(single ? "WHERE " : "WHERE (");
      write(key);
      write(single ? " IN (" : ") IN (");
      expand_part(arguments);
      return write(")");
    }
    write(keyword);
    expand_part(arguments);
    write(") AS found WHERE ");
    for (bool first = true; !key.empty(); first = false) {
      const std::string_view column = take(key, ",");
      for (const std::string_view part : {std::string_view(first ? "" : " AND "), table, std::string_view("."), column,
                                          std::string_view(first ? " = ANY (ARRAY[found." : " BETWEEN found."), column,
                                          std::string_view(first ? "])" : " AND found.")}) {
        write(part);
      }
      if (!first) write(column);
    }
  }

  static constexpr std::array<Fragment, 27> fragments() {
    return {{{"postgres", &SqlText::postgres},
             {"sqlite", &SqlText::sqlite},
             {"given", &SqlText::given},
             {"values", &SqlText::values},
             {"from_given", &SqlText::from_given},
             {"using_given", &SqlText::using_given},
             {"from_each", &SqlText::from_each},
             {"by_index", &SqlText::by_index},
             {"first_by", &SqlText::first_by},
             {"lookup", &SqlText::lookup},
             {"only_after", &SqlText::only_after},
             {"us", &SqlText::us},
             {"minute", &SqlText::minute},
             {"hour", &SqlText::hour},
             {"day", &SqlText::day},
             {"clock", &SqlText::clock},
             {"clock_us", &SqlText::clock_us},
             {"now_us", &SqlText::now_us},
             {"cast", &SqlText::cast},
             {"greatest", &SqlText::greatest},
             {"least", &SqlText::least},
             {"lock", &SqlText::lock},
             {"place", &SqlText::place},
             {"in", &SqlText::in},
             {"in_list", &SqlText::in_list},
             {"from_found", &SqlText::from_found},
             {"using_found", &SqlText::using_found}}};
  }

  bool postgres_;
  std::string_view given_;
  std::span<const SqlPart> parts_;
  char chars_[4096];  // only those before size_ are ever read
  size_t size_ = 0;
};

}  // namespace sluice::sql
