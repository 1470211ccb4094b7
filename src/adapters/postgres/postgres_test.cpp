#include <gtest/gtest.h>

#include "adapters/postgres/codec.h"
#include "adapters/postgres/postgres_config.h"
#include "adapters/postgres/scram_secret.h"
#include "adapters/postgres/sql_failure.h"
#include "adapters/sql/driver/database.h"
#include "runtime/config.h"

namespace sluice::postgres {
namespace {

using Words = std::initializer_list<int>;

// As PostgreSQL sends it: count, weight, sign, decimals, then digits in base 10,000.
sql::Value numeric(Words words) {
  std::string wire;
  for (const int word : words) {
    wire.push_back(static_cast<char>(word >> 8));
    wire.push_back(static_cast<char>(word));
  }
  return numeric_value(wire);
}

TEST(Numeric, is_an_integer_where_it_has_no_fraction_and_fits) {
  EXPECT_EQ(numeric({0, 0, 0, 0}), sql::Value(int64_t{0}));
  EXPECT_EQ(numeric({2, 1, 0, 0, 12, 34}), sql::Value(int64_t{120'034}));
  EXPECT_EQ(numeric({1, 2, 0x4000, 0, 5}), sql::Value(int64_t{-500'000'000}));
}

TEST(Numeric, is_text_where_it_has_a_fraction_or_is_too_long) {
  EXPECT_EQ(numeric({2, 0, 0, 2, 12, 3400}), sql::Value(std::string("12.34")));
  EXPECT_EQ(numeric({1, -2, 0, 6, 1200}), sql::Value(std::string("0.000012")));
  EXPECT_EQ(numeric({1, 5, 0, 0, 1}), sql::Value(std::string("100000000000000000000")));
  EXPECT_EQ(numeric({0, 0, 0xC000, 0}), sql::Value(std::string("NaN")));
}

void rethrow(const std::string& state) {
  std::rethrow_exception(to_exception({.state = state, .message = "said", .constraint = "named"}, "SELECT 1"));
}

TEST(SqlFailure, constraints_tell_kind_and_name) {
  using Kind = sql::ConstraintViolation::Kind;
  const std::map<std::string, Kind> kinds = {
      {"23505", Kind::unique}, {"23503", Kind::foreign_key}, {"23514", Kind::check}, {"23502", Kind::not_null}};
  for (const auto& [state, kind] : kinds) {
    try {
      rethrow(state);
    } catch (const sql::ConstraintViolation& violation) {
      EXPECT_EQ(violation.kind(), kind);
      EXPECT_EQ(violation.constraint(), "named");
    }
  }
}

TEST(SqlFailure, the_servers_troubles_may_pass) {
  for (const char* state : {"57P01", "57P03", "53300", "40P01", "40001", "55P03", "25006"}) {
    try {
      rethrow(state);
    } catch (const EngineUnavailable& error) {
      EXPECT_TRUE(error.retryable()) << state;
    }
  }
}

TEST(SqlFailure, a_pooler_that_lost_its_server_leaves_the_outcome_unknown) {
  try {
    rethrow("08P01");
  } catch (const EngineUnavailable& error) {
    EXPECT_FALSE(error.retryable());
  }
}

TEST(SqlFailure, a_cancelled_statement_took_too_long) {
  EXPECT_THROW(rethrow("57014"), DeadlineExceeded);
}

TEST(SqlFailure, everything_else_is_our_mistake) {
  for (const char* state : {"42601", "42P01", "22P02", "42501"}) EXPECT_THROW(rethrow(state), sql::StatementError);
}

TEST(PostgresConfig, is_read_and_a_pool_that_keeps_more_than_it_has_is_refused) {
  PostgresConfig config;
  config::Loader loader;
  loader.section("postgres", config);
  const std::string text = "[postgres]\nurl = \"postgresql://localhost/sluice\"\npool_max = 3\npool_kept = 4\n";
  const auto problems =
      loader.load({.file = "sluice.toml", .text = text, .environment = {{"SLUICE_POSTGRES_PASSWORD", "p"}}});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(config.url, "postgresql://localhost/sluice");
  EXPECT_EQ(config.password, "p");
}

TEST(PostgresConfig, a_password_in_the_url_is_refused_and_not_repeated) {
  for (const char* url :
       {"postgresql://kim:sesame@localhost/sluice", "postgresql://localhost/sluice?password=sesame"}) {
    PostgresConfig config;
    config::Loader loader;
    loader.section("postgres", config);
    const auto problems = loader.load({.file = "sluice.toml", .text = fmt::format("[postgres]\nurl = \"{}\"\n", url)});
    ASSERT_EQ(problems.size(), 1u) << url;
    EXPECT_EQ(problems[0].text().find("sesame"), std::string::npos) << problems[0].text();
  }
  PostgresConfig config;
  config::Loader loader;
  loader.section("postgres", config);
  EXPECT_TRUE(
      loader.load({.file = "sluice.toml", .text = "[postgres]\nurl = \"postgresql://kim@[::1]:5432/s\"\n"}).empty());
}

TEST(ScramSecret, hides_the_password) {
  const std::string secret = scram_secret("user_service", "open sesame");
  EXPECT_TRUE(secret.starts_with("SCRAM-SHA-256$4096:")) << secret;
  EXPECT_EQ(secret.find("sesame"), std::string::npos);
}

}  // namespace
}  // namespace sluice::postgres
