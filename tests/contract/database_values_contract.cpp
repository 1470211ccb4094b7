// Values: they come back as they went.
#include <limits>

#include "adapters/sql/driver/given_rows.h"
#include "tests/contract/database_tables.h"

namespace sluice::test {

namespace contract {

inline constexpr Statement insert_values{
    "INSERT INTO contract_values (id, truth, whole, real, words, raw, moment, token) "
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"};
inline constexpr Statement select_values{
    "SELECT truth, whole, real, words, raw, moment, token FROM contract_values WHERE id = $1"};

inline Task<Rows> round_trip(Database& database, int64_t id, Params values) {
  Params all(id);
  for (const sql::Value& value : values.values()) all.add(value);
  co_await database.write(insert_values, std::move(all));
  Rows rows = co_await database.read(select_values, Params(id));
  co_return rows;
}

inline constexpr Statement insert_all_given{Statement::PerDialect{
    .postgres = "INSERT INTO contract_values (id, truth, whole, real, words, raw, moment, token) "
                "SELECT * FROM unnest($1::bigint[], $2::boolean[], $3::bigint[], $4::double precision[], $5::text[], "
                "  $6::bytea[], $7::timestamptz[], $8::uuid[])",
    .sqlite = "INSERT INTO contract_values (id, truth, whole, real, words, raw, moment, token) "
              "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"}};
inline TxTask<int64_t> insert_given(Tx& tx, sql::GivenRows given) {
  const Rows rows = co_await sql::execute_many(tx, insert_all_given, std::move(given));
  co_return rows.affected;
}

}  // namespace contract

TEST_P(DatabaseContract, values_come_back_as_they_went) {
  SeededRandom random(1);
  const Uuid token = Uuid::v7(Time{5s}, random);
  const Bytes raw = {0, 1, 0, 255, 0};
  const Time moment{Duration{1'777'000'000'123'456}};
  const Rows rows = run(
      contract::round_trip(database(), 1, Params(true, int64_t{42}, -0.125, "Grüße 'quoted' $1", raw, moment, token)));
  const sql::Row& row = rows.one();
  EXPECT_TRUE(row.boolean(0));
  EXPECT_EQ(row.integer(1), 42);
  EXPECT_EQ(row.real(2), -0.125);
  EXPECT_EQ(row.text(3), "Grüße 'quoted' $1");
  EXPECT_EQ(row.bytes(4), raw);
  EXPECT_EQ(row.time(5), moment);
  EXPECT_EQ(row.uuid(6), token);
}

TEST_P(DatabaseContract, many_rows_go_into_one_statement) {
  const Time moment{Duration{-1'777'000'000'123'456}};
  sql::GivenRows given;
  given.add(1, true, -42, 0.5, "{\"quoted\", \\}", Bytes{0, 255}, moment, Null{});
  given.add(2, Null{}, Null{}, Null{}, Null{}, Null{}, Null{}, Null{});
  EXPECT_EQ(run(database().transact(contract::insert_given, given)), 2);
  const Rows full = run(database().read(contract::select_values, Params(1)));
  EXPECT_TRUE(full.one().boolean(0));
  EXPECT_EQ(full.one().integer(1), -42);
  EXPECT_EQ(full.one().real(2), 0.5);
  EXPECT_EQ(full.one().text(3), "{\"quoted\", \\}");
  EXPECT_EQ(full.one().bytes(4), (Bytes{0, 255}));
  EXPECT_EQ(full.one().time(5), moment);
  EXPECT_TRUE(full.one().is_null(6));
  const Rows nulls = run(database().read(contract::select_values, Params(2)));
  for (size_t column = 0; column < 7; ++column) EXPECT_TRUE(nulls.one().is_null(column)) << column;
}

TEST_P(DatabaseContract, null_is_not_empty) {
  const Rows nulls =
      run(contract::round_trip(database(), 1, Params(Null{}, Null{}, Null{}, Null{}, Null{}, Null{}, Null{})));
  for (size_t column = 0; column < 7; ++column) EXPECT_TRUE(nulls.one().is_null(column)) << column;
  const Rows empty = run(contract::round_trip(database(), 2, Params(false, 0, 0.0, "", Bytes{}, Time{}, Uuid{})));
  for (size_t column = 0; column < 7; ++column) EXPECT_FALSE(empty.one().is_null(column)) << column;
  EXPECT_EQ(empty.one().text(3), "");
  EXPECT_EQ(empty.one().bytes(4), Bytes{});
  EXPECT_EQ(empty.one().uuid(6), Uuid{});
}

TEST_P(DatabaseContract, extremes_survive) {
  using Limits = std::numeric_limits<int64_t>;
  const std::string words(3'000'000, 'w');
  Bytes raw(1'000'000);
  for (size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<uint8_t>(i * 7);
  const Time before_1970{Duration{-1'234'567'890'123}};
  const Time late = *parse_time("9999-12-31T23:59:59.999Z");
  const double tiny = std::numeric_limits<double>::denorm_min();
  const double huge = std::numeric_limits<double>::max();
  const Rows low =
      run(contract::round_trip(database(), 1, Params(false, Limits::min(), tiny, words, raw, before_1970, Uuid{})));
  EXPECT_EQ(low.one().integer(1), Limits::min());
  EXPECT_EQ(low.one().real(2), tiny);
  EXPECT_EQ(low.one().text(3), words);
  EXPECT_EQ(low.one().bytes(4), raw);
  EXPECT_EQ(low.one().time(5), before_1970);
  const Rows high =
      run(contract::round_trip(database(), 2, Params(true, Limits::max(), huge, "", Bytes{}, late, Uuid{})));
  EXPECT_EQ(high.one().integer(1), Limits::max());
  EXPECT_EQ(high.one().real(2), huge);
  EXPECT_EQ(high.one().time(5), late);
}

TEST_P(DatabaseContract, a_parameter_may_be_used_twice_and_in_any_order) {
  run(contract::insert(database(), 1, "one"));
  const Statement statement{"SELECT id FROM contract_items WHERE name = $2 AND id = $1 AND id <= $1"};
  EXPECT_EQ(run(database().read(statement, Params(1, "one"))).one().integer(0), 1);
}

}  // namespace sluice::test
