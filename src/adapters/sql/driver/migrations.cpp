#include "adapters/sql/driver/migrations.h"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "adapters/sql/driver/sql_text.h"

namespace sluice::sql {
namespace {

struct Applied {
  std::string name;
  std::string checksum;
};
using AppliedByNumber = std::map<int64_t, Applied>;

// Taken for the length of a transaction; the number only has to be the same in every process.
constexpr Statement lock_migrations = "SELECT pg_advisory_xact_lock(7282819401)::text";

// The dialects have other names for types.
constexpr Statement make_table = R"(
    CREATE TABLE IF NOT EXISTS schema_migrations (
    @postgres(
      number bigint PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL)
    @sqlite(
      number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL))
    @sqlite(STRICT))"_sql;

constexpr Statement select_applied = "SELECT number, name, checksum FROM schema_migrations";
constexpr Statement insert_applied =
    "INSERT INTO schema_migrations (number, name, checksum, applied_at) VALUES ($1, $2, $3, now())";

// FNV-1a: enough to notice an edited file.
std::string checksum(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

// The first migration that is not applied yet; fails if the applied ones differ from the set.
std::optional<Migration> first_missing(const MigrationSet& set, AppliedByNumber applied) {
  std::optional<Migration> missing;
  for (const Migration& migration : set.migrations) {
    const auto found = applied.extract(migration.number);
    if (found.empty()) {
      if (!missing) missing = migration;
      continue;
    }
    if (missing) {
      throw MigrationError(fmt::format(
          "migration {} ({}) was not applied although {} ({}) was; give it a number above those of all applied "
          "migrations",
          missing->number, missing->name, migration.number, migration.name));
    }
    if (found.mapped().checksum != checksum(migration.text)) {
      throw MigrationError(fmt::format(
          "migration {} ({}) was changed after it was applied; restore its text and add a new migration instead",
          migration.number, migration.name));
    }
  }
  if (!applied.empty()) {
    const auto& [number, row] = *applied.begin();
    throw MigrationError(fmt::format(
        "the database has migration {} ({}), which this version does not know; use the version that applied "
        "it or a later one",
        number, row.name));
  }
  return missing;
}

TxTask<AppliedByNumber> lock_and_load(Tx& tx, std::string_view schema) {
  if (tx.dialect() == Dialect::postgres) {
    const std::string set_path = fmt::format("SET LOCAL search_path TO {}", schema);
    co_await tx.execute(lock_migrations);
    co_await tx.execute(Statement(std::string_view(set_path)));
  }
  co_await tx.execute(make_table);
  const Rows rows = co_await tx.execute(select_applied);
  AppliedByNumber applied;
  for (const Row& row : rows) applied.emplace(row.integer(0), Applied{row.text(1), row.text(2)});
  co_return applied;
}

// Applies the first missing migration; its number, or nothing if all are there.
TxTask<std::optional<int>> apply_next(Tx& tx, MigrationSet set) {
  AppliedByNumber applied = co_await lock_and_load(tx, set.schema);
  const std::optional<Migration> next = first_missing(set, std::move(applied));
  if (!next) co_return std::nullopt;
  for (const std::string_view statement : split_statements(next->text)) {
    co_await tx.execute(Statement(statement));
  }
  Params row(next->number, next->name, checksum(next->text));
  co_await tx.execute(insert_applied, std::move(row));
  co_return next->number;
}

}  // namespace

Task<std::vector<int>> migrate(Database& database, MigrationSet set) {
  for (size_t i = 0; i < set.migrations.size(); ++i) {
    check_that(set.migrations[i].number == static_cast<int>(i) + 1, "migration {} is in the place of {}",
               set.migrations[i].number, i + 1);
  }
  std::vector<int> applied;
  while (true) {
    const std::optional<int> number = co_await database.transact(apply_next, set);
    if (!number) co_return applied;
    applied.push_back(*number);
  }
}

std::vector<std::string_view> split_statements(std::string_view text) {
  std::vector<std::string_view> statements;
  while (true) {
    const size_t end = text.find(";\n\n");
    const std::string_view statement = text.substr(0, end);
    // A comment behind the last statement is no statement.
    if (end == std::string_view::npos && !statement.contains(';')) return statements;
    statements.push_back(statement.substr(0, statement.find_last_not_of("; \n") + 1));
    if (end == std::string_view::npos) return statements;
    text.remove_prefix(end + 3);
  }
}

}  // namespace sluice::sql
