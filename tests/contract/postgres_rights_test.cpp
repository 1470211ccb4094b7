// Rights on documents and slots on PostgreSQL.
#include <gtest/gtest.h>

#include "runtime/system_clock.h"
#include "tests/contract/postgres_engines.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

constexpr std::string_view insert_document =
    "INSERT INTO document_service.documents (origin, path, state, asked_at, created_at, updated_at) "
    "VALUES ('rights', 'a', 'EMPTY', now(), now(), now()) ON CONFLICT DO NOTHING";
constexpr std::string_view insert_slot =
    "INSERT INTO document_service.slots (key, number, owner, token, expires_at) "
    "VALUES ('rights', 1, 'me', 1, now()) ON CONFLICT DO NOTHING";

class PostgresRights : public TaskFixture {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(PostgresServer::why_missing(15));
    engine_ = postgres_service_engines("document_service").front();
    service_ = engine_->open(io_, 100);
    admin_ = log_in(postgres_config(shared_postgres()));
    // A login that the operator made a reader.
    write(*admin_, "DROP ROLE IF EXISTS analyst");
    write(*admin_, "CREATE ROLE analyst LOGIN PASSWORD 'analyst' IN ROLE document_reader");
    reader_ = log_in({.url = shared_postgres().url(), .user = "analyst", .password = "analyst"});
    write(service_->database(), insert_document);
    write(service_->database(), insert_slot);
  }

  std::unique_ptr<sql::Database> log_in(const postgres::PostgresConfig& config) {
    return std::make_unique<postgres::PostgresDatabase>(config, thread_, clock_);
  }
  int64_t write(sql::Database& database, std::string_view text) {
    return run(database.write(sql::Statement(text))).affected;
  }
  int64_t count(sql::Database& database, std::string_view text) {
    return run(database.read(sql::Statement(text))).one().integer(0);
  }

  SystemClock clock_;
  postgres::EngineThread thread_;
  std::optional<DatabaseEngine> engine_;
  std::unique_ptr<OpenDatabase> service_;
  std::unique_ptr<sql::Database> admin_;
  std::unique_ptr<sql::Database> reader_;
};

constexpr std::array<std::string_view, 8> writes{
    insert_document,
    "UPDATE document_service.documents SET body = NULL",
    "DELETE FROM document_service.documents",
    "TRUNCATE document_service.documents",
    insert_slot,
    "UPDATE document_service.slots SET expires_at = now()",
    "DELETE FROM document_service.slots",
    "TRUNCATE document_service.slots",
};

TEST_F(PostgresRights, a_reader_sees_documents_and_slots) {
  EXPECT_GE(count(*reader_, "SELECT count(*) FROM document_service.documents WHERE origin = 'rights'"), 1);
  EXPECT_GE(count(*reader_, "SELECT count(*) FROM document_service.slots WHERE key = 'rights'"), 1);
}

TEST_F(PostgresRights, a_reader_writes_neither) {
  for (const std::string_view text : writes) EXPECT_THROW(write(*reader_, text), sql::StatementError) << text;
}

TEST_F(PostgresRights, a_reader_sees_nothing_else) {
  for (const std::string_view text :
       {"SELECT count(*) FROM document_service.fenced_leases", "SELECT count(*) FROM document_service.breakers",
        "SELECT count(*) FROM document_service.document_changes", "SELECT count(*) FROM user_service.users",
        "SELECT count(*) FROM user_service.api_keys", "SELECT count(*) FROM job_service.schema_migrations"}) {
    EXPECT_THROW(count(*reader_, text), sql::StatementError) << text;
  }
  EXPECT_THROW(write(*reader_, "CREATE TABLE document_service.intruder (a int)"), sql::StatementError);
  EXPECT_THROW(write(*reader_, "CREATE TABLE public.intruder (a int)"), sql::StatementError);
}

TEST_F(PostgresRights, the_policies_hold_even_where_rights_were_granted_by_mistake) {
  write(*admin_, "GRANT INSERT, UPDATE, DELETE ON document_service.documents, document_service.slots TO analyst");
  for (const std::string_view text : {insert_document, insert_slot}) {
    EXPECT_THROW(write(*reader_, text), sql::StatementError) << text;
  }
  for (const std::string_view text : {"UPDATE document_service.documents SET body = NULL",
                                      "DELETE FROM document_service.documents", "DELETE FROM document_service.slots"}) {
    EXPECT_EQ(write(*reader_, text), 0) << text;
  }
  write(*admin_, "REVOKE ALL ON document_service.documents, document_service.slots FROM analyst");
}

TEST_F(PostgresRights, other_services_reach_neither) {
  const auto users =
      log_in({.url = shared_postgres().url(), .user = "user_service", .password = service_password("user_service")});
  for (const std::string_view text : writes) EXPECT_THROW(write(*users, text), sql::StatementError) << text;
  EXPECT_THROW(count(*users, "SELECT count(*) FROM document_service.documents"), sql::StatementError);
}

}  // namespace
}  // namespace sluice::test
