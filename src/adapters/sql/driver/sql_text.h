// One text for both dialects: where they differ, the text names a fragment, and the compiler writes both texts.
//
//   constexpr Statement renew_lease = R"(
//       UPDATE fenced_leases SET expires_at = now() + @us($3)
//       WHERE key = $1 AND fence = $2 AND expires_at > now())"_sql;
//
// A misspelled fragment does not compile. Spaces and line breaks outside quotes become one space, so a text may be
// laid out freely. Fragments may stand within each other's arguments.
//
//   fragment                  PostgreSQL                                SQLite
//   @us($3)                   $3::bigint * interval '1 microsecond'     $3
//   @us(lock_ttl)             lock_ttl * interval '1 microsecond'       lock_ttl
//   @minute, @hour, @day      interval '1 minute', ...                  60000000, ...
//   @clock                    clock_timestamp()                         now()
//   @clock_us, @now_us        microseconds of the clock, of now()       now()
//   @cast($1, uuid)           $1::uuid                                  $1
//   @greatest(a, b)           greatest(a, b)                            max(a, b)      NULL where an argument is NULL
//   @least(a, b)              least(a, b)                               min(a, b)      NULL where an argument is NULL
//   @lock(FOR UPDATE)         FOR UPDATE                                               one writer at a time anyway
//   @place                    ctid                                      id             names locked rows of a table
//   @in(SELECT ...)           = ANY (ARRAY(SELECT ...))                 IN (SELECT ...)
//   @first_by(t.id)           ORDER BY t.id LIMIT 1                     LIMIT 1        the order names the index to use
//   @in_list($1, int)         = ANY ($1::text::int[])                   IN (SELECT value FROM json_each($1))
//
// A change of the rows that a subquery finds; PostgreSQL locks them there and then looks each up by its key:
//   DELETE FROM inbox @using_found(inbox, (consumer, message_id), SELECT ... LIMIT $1 @lock(FOR UPDATE SKIP LOCKED))
//   UPDATE imports SET ... @from_found(imports, (id), SELECT id ...)
//
// The rest of a text, where a plan was tuned or an engine offers more; the place says why:
//   @postgres(...)            the text                                                 nothing
//   @sqlite(...)              nothing                                   the text
//
// A statement for execute_many declares its columns first, and then `given.id` is a column of the given rows in
// PostgreSQL and a parameter in SQLite. given_rows.h tells why PostgreSQL has these forms.
//   @given(id uuid, token bigint, result json)
//   @values(given.id, ...)    SELECT given.id, ... FROM unnest(...)     VALUES ($1, ...)
//   @from_given               FROM unnest(...) AS given (id, ...)
//   @using_given              USING unnest(...) AS given (id, ...)
//   @from_each(q) AS one      FROM unnest(...) AS given (...) CROSS JOIN LATERAL (q) AS one       FROM (q) AS one
//   @by_index                 OFFSET 0                                                 at the end of `q`
//   @lookup(t.a = given.a AND t.b = given.b)
//                             t.a = ANY (ARRAY[given.a]) AND t.b BETWEEN given.b AND given.b
//   @only_after(given.id, c)  CASE WHEN given.id IS NOT NULL THEN c END  c
//
// A part that several statements share, such as their columns, is a SqlPart. A text names it like a fragment:
//   constexpr SqlPart shown{"shown", "id, kind, priority"};
//   constexpr Statement find_job = sql_with<"SELECT @shown FROM jobs WHERE id = $1", shown>;
//   row.integer(shown["priority"])
#pragma once

#include "adapters/sql/driver/sql_expansion.h"

namespace sluice::sql {

// The constants behind _sql and sql_with.
namespace literal {

template <size_t n>
struct Text {
  char chars[n];

  consteval Text(const char (&text)[n]) { std::ranges::copy(text, chars); }
  constexpr std::string_view view() const { return {chars, n - 1}; }
};

template <Text text, Dialect dialect, const SqlPart&... parts>
consteval auto expand() {
  static constexpr std::array<SqlPart, sizeof...(parts)> all{parts...};
  constexpr size_t size = SqlText(text.view(), dialect, all).view().size();
  std::array<char, size> chars{};
  const SqlText full(text.view(), dialect, all);
  std::ranges::copy(full.view(), chars.begin());
  return chars;
}

template <Text text, Dialect dialect, const SqlPart&... parts>
inline constexpr auto expanded = expand<text, dialect, parts...>();

template <Text text, Dialect dialect, const SqlPart&... parts>
inline constexpr std::string_view view{expanded<text, dialect, parts...>.data(),
                                       expanded<text, dialect, parts...>.size()};

}  // namespace literal

// A text with parts that it shares with others.
template <literal::Text text, const SqlPart&... parts>
inline constexpr Statement sql_with{Statement::PerDialect{.postgres = literal::view<text, Dialect::postgres, parts...>,
                                                          .sqlite = literal::view<text, Dialect::sqlite, parts...>}};

template <literal::Text text>
consteval Statement operator""_sql() {
  return sql_with<text>;
}

}  // namespace sluice::sql
