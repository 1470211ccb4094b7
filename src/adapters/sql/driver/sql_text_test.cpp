#include "adapters/sql/driver/sql_text.h"

#include <gtest/gtest.h>

namespace sluice::sql {
namespace {

std::string in(Dialect dialect, std::string_view text) {
  return std::string(SqlText(text, dialect).view());
}

void expect(std::string_view text, std::string_view postgres, std::string_view sqlite) {
  EXPECT_EQ(in(Dialect::postgres, text), postgres);
  EXPECT_EQ(in(Dialect::sqlite, text), sqlite);
}

TEST(SqlText, a_text_without_fragments_is_the_same_in_both) {
  constexpr Statement statement = "SELECT 1 FROM given WHERE given.id = $1"_sql;
  EXPECT_EQ(statement.postgres, "SELECT 1 FROM given WHERE given.id = $1");
  EXPECT_EQ(statement.sqlite, statement.postgres);
}

TEST(SqlText, spaces_outside_quotes_become_one) {
  constexpr Statement statement = R"(
      SELECT 'a  (@b'
        FROM t   )"_sql;
  EXPECT_EQ(statement.sqlite, "SELECT 'a  (@b' FROM t");
}

TEST(SqlText, times_are_intervals_or_microseconds) {
  expect("now() + @us($3)", "now() + $3::bigint * interval '1 microsecond'", "now() + $3");
  expect("now() + @us(lock_ttl)", "now() + lock_ttl * interval '1 microsecond'", "now() + lock_ttl");
  expect("now() - @minute", "now() - interval '1 minute'", "now() - 60000000");
  expect("at < @clock", "at < clock_timestamp()", "at < now()");
  expect("SELECT @now_us, 1", "SELECT (extract(epoch FROM now()) * 1000000)::bigint, 1", "SELECT now(), 1");
}

TEST(SqlText, fragments_stand_within_each_other) {
  expect("@us(@least(@cast($5, bigint), (1 << @least(failures, 20))))",
         "least($5::bigint, (1 << least(failures, 20))) * interval '1 microsecond'",
         "min($5, (1 << min(failures, 20)))");
}

TEST(SqlText, locks_are_for_postgres) {
  expect("SELECT id FROM t LIMIT $1 @lock(FOR UPDATE SKIP LOCKED)", "SELECT id FROM t LIMIT $1 FOR UPDATE SKIP LOCKED",
         "SELECT id FROM t LIMIT $1");
  expect("UPDATE t SET a = 1 WHERE @place @in(SELECT @place FROM t @lock(FOR UPDATE)) RETURNING a",
         "UPDATE t SET a = 1 WHERE ctid = ANY (ARRAY(SELECT ctid FROM t FOR UPDATE)) RETURNING a",
         "UPDATE t SET a = 1 WHERE id IN (SELECT id FROM t) RETURNING a");
  expect("bucket @in_list($1, int)", "bucket = ANY ($1::text::int[])", "bucket IN (SELECT value FROM json_each($1))");
}

TEST(SqlText, found_rows_are_looked_up_by_their_key) {
  expect("DELETE FROM t @using_found(t, (a), SELECT a FROM t LIMIT $1)",
         "DELETE FROM t USING (SELECT a FROM t LIMIT $1) AS found WHERE t.a = ANY (ARRAY[found.a])",
         "DELETE FROM t WHERE a IN (SELECT a FROM t LIMIT $1)");
  expect("UPDATE t SET c = 1 @from_found(t, (a, b), SELECT a, b FROM t @lock(FOR UPDATE)) RETURNING t.c",
         "UPDATE t SET c = 1 FROM (SELECT a, b FROM t FOR UPDATE) AS found "
         "WHERE t.a = ANY (ARRAY[found.a]) AND t.b BETWEEN found.b AND found.b RETURNING t.c",
         "UPDATE t SET c = 1 WHERE (a, b) IN (SELECT a, b FROM t) RETURNING t.c");
}

TEST(SqlText, given_rows_are_inserted) {
  expect(
      "@given(id uuid, body json) INSERT INTO t (a, b, c) @values(given.id, now(), given.body) ON CONFLICT DO NOTHING",
      "INSERT INTO t (a, b, c) SELECT given.id, now(), given.body "
      "FROM unnest($1::uuid[], $2::text[]::json[]) AS given (id, body) ON CONFLICT DO NOTHING",
      "INSERT INTO t (a, b, c) VALUES ($1, now(), $2) ON CONFLICT DO NOTHING");
}

TEST(SqlText, given_rows_are_looked_up_to_be_changed) {
  expect(
      "@given(a text, b text) UPDATE t SET c = given.b @from_given "
      "WHERE @lookup(t.a = given.a AND t.b = given.b) AND @only_after(given.a, c IS NULL)",
      "UPDATE t SET c = given.b FROM unnest($1::text[], $2::text[]) AS given (a, b) "
      "WHERE t.a = ANY (ARRAY[given.a]) AND t.b BETWEEN given.b AND given.b "
      "AND CASE WHEN given.a IS NOT NULL THEN c IS NULL END",
      "UPDATE t SET c = $2 WHERE t.a = $1 AND t.b = $2 AND c IS NULL");
  expect("@given(id uuid) DELETE FROM t @using_given WHERE @lookup(t.id = given.id)",
         "DELETE FROM t USING unnest($1::uuid[]) AS given (id) WHERE t.id = ANY (ARRAY[given.id])",
         "DELETE FROM t WHERE t.id = $1");
}

TEST(SqlText, given_rows_are_looked_up_to_be_read) {
  expect("@given(id uuid) SELECT given.id, one.a @from_each(SELECT a FROM t WHERE id = given.id @by_index) AS one",
         "SELECT given.id, one.a FROM unnest($1::uuid[]) AS given (id) "
         "CROSS JOIN LATERAL (SELECT a FROM t WHERE id = given.id OFFSET 0) AS one",
         "SELECT $1, one.a FROM (SELECT a FROM t WHERE id = $1) AS one");
  expect("SELECT (SELECT true FROM t WHERE a = $1 @first_by(t.id)) IS NULL",
         "SELECT (SELECT true FROM t WHERE a = $1 ORDER BY t.id LIMIT 1) IS NULL",
         "SELECT (SELECT true FROM t WHERE a = $1 LIMIT 1) IS NULL");
}

TEST(SqlText, a_dialect_may_have_text_of_its_own) {
  expect("SELECT a FROM @postgres(generate_series(1, 2)) @sqlite(series) LIMIT 1",
         "SELECT a FROM generate_series(1, 2) LIMIT 1", "SELECT a FROM series LIMIT 1");
}

constexpr SqlPart shown{"shown", "id, kind, priority"};
constexpr SqlPart all{"all", "@shown, now() + @us($1)"};

TEST(SqlText, statements_share_parts) {
  constexpr Statement statement = sql_with<"SELECT @all FROM jobs", all, shown>;
  EXPECT_EQ(statement.sqlite, "SELECT id, kind, priority, now() + $1 FROM jobs");
}

TEST(SqlText, columns_of_a_part_are_found_by_name) {
  static_assert(shown["id"] == 0);
  static_assert(shown["priority"] == 2);
  EXPECT_EQ(shown.size(), 3);
}

TEST(SqlText, mistakes_are_refused) {
  for (const std::string_view text :
       {"@nonsense", "SELECT @shown", "@us($1", "SELECT 'a", "@given(id uuid) given.name"}) {
    EXPECT_THROW(in(Dialect::postgres, text), std::logic_error) << text;
    EXPECT_THROW(in(Dialect::sqlite, text), std::logic_error) << text;
  }
}

}  // namespace
}  // namespace sluice::sql
